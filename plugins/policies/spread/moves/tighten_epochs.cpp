// SPDX-License-Identifier: Apache-2.0
// Trial placements of one epoch after the other.
#include "tighten_epochs.hpp"

#include <buda/cost/transfer_model.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::balance {
namespace {

// Parts of an epoch's interval that are tried: the middle one, then the one beside it.
constexpr double kMiddle = 0.75, kShorter = 0.6, kLonger = 0.88;

// Where links decide: models that are compared while the busiest link is too slow, the cores that they may have for each of the first
// one's, and the part of an op's cycles below which links do not matter.
constexpr int kComparedModels = 6, kMaxCompared = 24;
constexpr std::int64_t kMaxCoresForLinks = 4;
constexpr double kIdleLinks = 0.6;
// The part of that time which a model with more cores must come down to.
constexpr double kWorthCores = 0.85;

// Models and places of the op before that are tried where its reader's links are too slow.
constexpr std::size_t kOtherModels = 4, kOtherPlaces = 2;

// Free places of an op's grid that touch the edge of the chip, or ops above or to the left, row by row: others would leave gaps. Only one
// where the user fixed it.
std::vector<Place> free_places(const Placement& placement, OpId op, GridShape grid) {
  const Placer& placer = placement.placer();
  const PlaceRule rule = placement.space().place_rule(op);
  std::vector<Place> out;
  if (rule.at) {
    if (auto place = placer.find(grid, rule)) out.push_back(*place);
    return out;
  }
  auto add_all = [&](GridShape shape, bool transposed) {
    for (std::int32_t r = 0; r + shape.rows <= placer.chip().rows; ++r)
      for (std::int32_t c = 0; c + shape.cols <= placer.chip().cols; ++c) {
        if (!placer.is_free({{r, c}, shape})) continue;
        if (placer.is_free({{r - 1, c}, shape}) && placer.is_free({{r, c - 1}, shape})) continue;
        out.push_back({{r, c}, transposed});
      }
  };
  if (rule.upright) add_all(grid, false);
  if (out.empty() && rule.transposed && (!rule.upright || grid.rows != grid.cols)) add_all({grid.cols, grid.rows}, true);
  return out;
}

// Of ops [begin, end) of a choice.
std::vector<double> cycles_of(PacedPlacer& placer, const Choice& choice, std::size_t begin, std::size_t end) {
  std::vector<double> out;
  for (std::size_t i = begin; i < end; ++i) out.push_back(placer.cycles(placer.placement().schedule()[i], choice));
  return out;
}

}  // namespace

bool fits_within(PacedPlacer& placer, std::size_t begin, std::size_t end, std::span<const double> cycles) {
  Placement& placement = placer.placement();
  const auto& schedule = placement.schedule();
  for (std::size_t i = begin; i < end; ++i) {
    const bool stands = placer.place(i, i + 1, cycles.subspan(i - begin, 1)).ok() &&
                        placement.placed(schedule[i]).epoch == placement.placed(schedule[begin]).epoch &&
                        placer.cycles(schedule[i]) <= cycles[i - begin];
    if (stands) continue;
    if (placer.goal() == PlaceGoal::pairs) return placer.pack(begin, end, cycles);
    begin_again(placement, begin);
    return false;
  }
  return true;
}

PacedPlacer::PacedPlacer(Placement& placement, PlaceGoal goal, LinkModel& links)
    : placement_(placement), goal_(goal), model_(&links), end_(placement.schedule().size()) {
  if (goal != PlaceGoal::first) links_.emplace(placement, *model_);
}

Result<void> PacedPlacer::place(std::size_t begin, std::size_t end, std::span<const double> cycles) {
  for (std::size_t i = begin; i < end; ++i) BUDA_TRY(place_op(placement_.schedule()[i], cycles[i - begin]));
  return success();
}

namespace {

// Ops of one epoch that choose models together, and then get places for them.
class Pack {
 public:
  struct Block {
    OpId op;
    double most;                         // cycles that it may take
    std::vector<const OpModel*> models;  // that keep up, best first
    const OpModel* model = nullptr;
    Place place;
  };

  // `first`: the op of the first block, of a run of the schedule.
  Pack(const Placement& placement, LinkModel& links, std::vector<Block> blocks)
      : placement_(placement), links_(links), blocks_(std::move(blocks)) {}

  const std::vector<Block>& blocks() const { return blocks_; }

  // Every op gets the best of its models that goes with those of its producers. Where none does, a producer gets another one.
  void choose_models() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].model = first_that_suits(i);
      if (blocks_[i].model == nullptr && !choose_with_producer(i)) blocks_[i].model = blocks_[i].models.front();
    }
  }

  // Ops whose place is fixed first, then the largest, each in the first free place. An op without room takes another model that has.
  bool find_places() {
    std::vector<std::size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_fixed = [&](std::size_t i) { return placement_.space().place_rule(blocks_[i].op).at.has_value(); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (is_fixed(a) != is_fixed(b)) return is_fixed(a);
      return blocks_[a].model->cores() > blocks_[b].model->cores();
    });
    Placer chip(placement_.placer().chip());
    return std::all_of(order.begin(), order.end(), [&](std::size_t i) { return find_place(i, chip); });
  }

 private:
  bool find_place(std::size_t i, Placer& chip) {
    Block& block = blocks_[i];
    std::vector<const OpModel*> models{block.model};
    for (const OpModel* m : block.models)
      if (m != block.model && suits(i, *m)) models.push_back(m);
    for (const OpModel* model : models) {
      const auto place = chip.find(model->grid, placement_.space().place_rule(block.op));
      if (!place) continue;
      block.model = model;
      block.place = *place;
      chip.take(Placer::rect_of(model->grid, *place));
      return true;
    }
    return false;
  }

  const OpModel* first_that_suits(std::size_t i) {
    auto found = std::find_if(blocks_[i].models.begin(), blocks_[i].models.end(), [&](const OpModel* m) { return suits(i, *m); });
    return found == blocks_[i].models.end() ? nullptr : *found;
  }

  bool choose_with_producer(std::size_t i) {
    for (const Operand& operand : placement_.space().op(blocks_[i].op).operands) {
      Block* producer = find(operand.from.op);
      if (producer == nullptr) continue;
      const OpModel* before = producer->model;
      std::size_t tried = 0;
      for (const OpModel* m : producer->models) {
        if (tried == kOtherModels) break;
        if (m == before || !suits(static_cast<std::size_t>(producer - blocks_.data()), *m)) continue;
        ++tried;
        producer->model = m;
        if ((blocks_[i].model = first_that_suits(i)) != nullptr) return true;
      }
      producer->model = before;
    }
    return false;
  }

  // Whether the edges from and to those ops that have models keep up.
  bool suits(std::size_t i, const OpModel& model) {
    const OpSpec& spec = placement_.space().op(blocks_[i].op);
    for (std::size_t k = 0; k < spec.operands.size(); ++k)
      if (const Block* producer = find(spec.operands[k].from.op); producer != nullptr && producer->model != nullptr)
        if (links_.pairs.cycles(blocks_[i].op, model, k, *producer->model) > blocks_[i].most) return false;
    for (const OpUse& use : spec.users)
      if (const Block* reader = find(use.op); reader != nullptr && reader->model != nullptr)
        if (links_.pairs.cycles(use.op, *reader->model, use.input, model) > reader->most) return false;
    return true;
  }

  // Nothing for ops of other epochs.
  Block* find(OpId op) {
    auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.op == op; });
    return found == blocks_.end() ? nullptr : &*found;
  }

  const Placement& placement_;
  LinkModel& links_;
  std::vector<Block> blocks_;
};

}  // namespace

bool PacedPlacer::pack(std::size_t begin, std::size_t end, std::span<const double> cycles) {
  begin_again(placement_, begin);
  std::vector<Pack::Block> blocks;
  std::int64_t cores = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const OpId op = placement_.schedule()[i];
    const double most = cycles[i - begin];
    Pack::Block block{op, most, in_order(op, most), nullptr, {}};
    std::erase_if(block.models, [&](const OpModel* m) { return this->cycles(op, *m) > most; });
    if (block.models.empty()) return false;
    cores += block.models.front()->cores();
    if (cores > placement_.placer().chip().volume()) return false;
    blocks.push_back(std::move(block));
  }
  Pack pack(placement_, *model_, std::move(blocks));
  pack.choose_models();
  if (!pack.find_places()) return false;
  for (const Pack::Block& block : pack.blocks()) {
    // Another model of the same grid where neighbours object to the first.
    const bool stands = placement_.place_at(block.op, *block.model, block.place) ||
                        std::any_of(block.models.begin(), block.models.end(), [&](const OpModel* m) {
                          return m->grid == block.model->grid && placement_.place_at(block.op, *m, block.place);
                        });
    if (stands) continue;
    begin_again(placement_, begin);
    return false;
  }
  return true;
}

// What keeps up comes first, with the least share of cores and DRAM; then what is fastest.
std::vector<const OpModel*> PacedPlacer::in_order(OpId op, double most) {
  const auto cores = static_cast<double>(placement_.space().device().grid().volume());
  const double bytes = std::max(most, 1.0) * cost::TransferModel(placement_.space().device()).dram_rate();
  const auto models = placement_.space().models_of(op);
  const std::vector<QueueTimes::SourceReads>& reads = model_->times.source_reads(op);
  const QueueWays ways = ways_in_epoch(placement_, op, end_);
  struct Rank {
    const OpModel* model;
    double cycles, share;
  };
  // Other plans than those that place ops where there is room first need not do without the cores that later epochs do not need.
  const bool spreads = goal_ != PlaceGoal::first && ways.written;
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double later = spreads ? model_->times.read_again(op, models[i]) : 0;
    ranks.push_back({&models[i], std::max({model_->times.cycles(op, models[i], ways), reads[i].cycles, later}),
                     static_cast<double>(models[i].cores()) / cores + reads[i].bytes / bytes});
  }
  std::stable_sort(ranks.begin(), ranks.end(), [most](const Rank& a, const Rank& b) {
    const bool keeps_up = a.cycles <= most;
    if (keeps_up != (b.cycles <= most)) return keeps_up;
    if (!keeps_up) return a.cycles != b.cycles ? a.cycles < b.cycles : a.model->cores() < b.model->cores();
    if (a.share != b.share) return a.share < b.share;
    if (a.model->stream.parts != b.model->stream.parts) return a.model->stream.parts < b.model->stream.parts;
    return a.model->cycles < b.model->cycles;
  });
  std::vector<const OpModel*> out;
  for (const Rank& rank : ranks) out.push_back(rank.model);
  return out;
}

Result<void> PacedPlacer::place_op(OpId op, double most) {
  if (links_) {
    if (place_by_links(op, most)) return success();
    placement_.next_epoch();
    if (place_by_links(op, most)) return success();
  }
  const std::vector<const OpModel*> order = in_order(op, most);
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i] - placement_.space().models_of(op).data())] = i;
  auto rank_of = [&](const OpModel& m) { return rank[static_cast<std::size_t>(&m - placement_.space().models_of(op).data())]; };
  return placement_.place_best(op, [&](const OpModel& a, const OpModel& b) { return rank_of(a) < rank_of(b); });
}

std::optional<PacedPlacer::Spot> PacedPlacer::best_spot(OpId op, double most, const std::vector<const OpModel*>& order) {
  std::optional<Spot> best;
  std::int64_t first_cores = 0;
  int compared = 0, seen = 0;
  links_->follow(end_);
  for (const OpModel* model : order) {
    if (best && (++seen > kMaxCompared || compared >= kComparedModels || cycles(op, *model) > most ||
                 model->cores() > kMaxCoresForLinks * first_cores))
      break;
    const std::vector<Place> places = free_places(placement_, op, model->grid);
    if (places.empty() || !placement_.may_stand(op, *model)) continue;
    const Intake intake = model_->intakes.intake(op, *model, end_);
    if (!best) first_cores = model->cores();
    double least = kIdleLinks * most;
    for (std::size_t i = 0; i < placement_.space().op(op).operands.size(); ++i)
      least = std::max(least, edge_cycles(op, *model, i).value_or(0));
    const double worth = best && model->cores() > best->model->cores() ? kWorthCores * best->links : best ? best->links : 0;
    if (best && least >= worth) continue;
    ++compared;
    std::optional<Spot> own;
    for (const Place& place : places) {
      const double links = std::max(links_->busiest_with(intake, *model, place), least);
      if (!own || links < own->links) own = Spot{model, place, links};
    }
    if (!best || own->links < worth) best = own;
    if (best->links <= most) break;
  }
  return best;
}

std::optional<double> PacedPlacer::edge_cycles(OpId op, const OpModel& model, std::size_t input) {
  const Operand& operand = placement_.space().op(op).operands[input];
  const OpId from = operand.from.op;
  if (!from.valid() || operand.queued || model.is_resident(input) || placement_.placed(from).epoch != placement_.epoch())
    return std::nullopt;
  return model_->pairs.cycles(op, model, input, placement_.placed(from).model);
}

std::vector<double> PacedPlacer::edge_cycles(const std::vector<OpId>& ops) {
  std::vector<double> out(ops.size(), 0);
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (std::size_t k = 0; k < placement_.space().op(ops[i]).operands.size(); ++k) {
      const auto cycles = edge_cycles(ops[i], placement_.placed(ops[i]).model, k);
      if (!cycles) continue;
      const auto producer = std::find(ops.begin(), ops.end(), placement_.space().op(ops[i]).operands[k].from.op);
      for (double* slowest : {&out[i], producer == ops.end() ? nullptr : &out[static_cast<std::size_t>(producer - ops.begin())]})
        if (slowest != nullptr) *slowest = std::max(*slowest, *cycles);
    }
  return out;
}

double PacedPlacer::edge_cycles_with(OpId op, const OpModel& model) {
  double out = 0;
  for (std::size_t k = 0; k < placement_.space().op(op).operands.size(); ++k) out = std::max(out, edge_cycles(op, model, k).value_or(0));
  for (const OpUse& use : placement_.space().op(op).users) {
    const bool is_here = placement_.is_placed(use.op) && placement_.placed(use.op).epoch == placement_.epoch();
    if (!is_here || placement_.space().op(use.op).operands[use.input].queued) continue;
    out = std::max(out, model_->pairs.cycles(use.op, placement_.placed(use.op).model, use.input, model));
  }
  return out;
}

bool PacedPlacer::place_by_links(OpId op, double most) {
  const auto best = best_spot(op, most, in_order(op, most));
  if (!best) return false;
  if (goal_ == PlaceGoal::pairs && best->links > most && !placement_.in_epoch().empty()) {
    const OpId before = placement_.in_epoch().back();
    const auto& operands = placement_.space().op(op).operands;
    if (std::any_of(operands.begin(), operands.end(), [&](const Operand& o) { return o.from.op == before; })) {
      place_pair(before, op, most, *best);
      return true;
    }
  }
  return placement_.place_at(op, *best->model, best->place);
}

// The producer, which was placed last, stands where both together make the least of the busiest link.
void PacedPlacer::place_pair(OpId producer, OpId op, double most, const Spot& found) {
  struct Pair {
    OpModel first;
    Place place;
    Spot second;
  };
  Pair best{placement_.placed(producer).model, placement_.placed(producer).place, found};
  const bool begins = placement_.in_epoch().size() == 1;
  auto take_back = [&] {
    placement_.rewind(producer);
    if (begins) placement_.next_epoch();
  };
  const std::vector<const OpModel*> order = in_order(op, most);
  std::size_t tried = 0;
  for (const OpModel* model : in_order(producer, most)) {
    if (tried > kOtherModels || cycles(producer, *model) > most || best.second.links <= most) break;
    take_back();
    const std::vector<Place> places = free_places(placement_, producer, model->grid);
    if (!places.empty()) ++tried;
    // The first and the last of them.
    for (std::size_t k = 0; k < std::min(kOtherPlaces, places.size()); ++k) {
      if (placement_.is_placed(producer)) take_back();
      const Place place = k == 0 ? places.front() : places.back();
      if (!placement_.place_at(producer, *model, place)) continue;
      const auto spot = best_spot(op, most, order);
      if (spot && spot->links < best.second.links) best = {*model, place, *spot};
    }
    if (!placement_.is_placed(producer)) placement_.place_at(producer, best.first, best.place);
  }
  take_back();
  placement_.place_at(producer, best.first, best.place);
  placement_.place_at(op, *best.second.model, best.second.place);
}

Result<Choice> tightened(PacedPlacer& placer, const Choice& choice) {
  Placement& placement = placer.placement();
  const auto bounds = bounds_of(placement, choice);
  if (!placement.schedule().empty()) placement.rewind(placement.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    const auto own = cycles_of(placer, choice, begin, end);
    const double interval = *std::max_element(own.begin(), own.end());
    auto at = [&](double part) { return std::vector<double>(end - begin, part * interval); };
    placement.next_epoch();
    placer.expect_end(end);
    const bool middle = fits_within(placer, begin, end, at(kMiddle));
    if (middle) begin_again(placement, begin);
    if (fits_within(placer, begin, end, at(middle ? kShorter : kLonger))) continue;
    BUDA_TRY(placer.place(begin, end, at(middle ? kMiddle : 1)));
  }
  return placement.choice();
}

}  // namespace buda::balance
