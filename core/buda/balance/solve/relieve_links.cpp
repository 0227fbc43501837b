// Moves and swaps, one op after the other.
#include <buda/balance/solve/relieve_links.hpp>

#include <buda/balance/solve/tighten_epochs.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

constexpr int kRounds = 3;

// The ops of one epoch with places that change.
class MovableEpoch {
 public:
  // The ops stand in the context's present epoch, which ends before number `end` of the schedule.
  MovableEpoch(const PolicyContext& context, LinkModel& model, std::size_t end)
      : links_(model.links), placer_(context.placer()), number_(context.schedule().size(), 0) {
    bytes_.assign(links_.count(), 0);
    for (OpId op : context.in_epoch()) {
      number_[op.index()] = ops_.size();
      ops_.push_back({op, context.placed(op), model.intakes.intake(op, context.placed(op).model, end), {}});
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      limit_ = std::max(limit_, ops_[i].placed.model.cycles * links_.rate());
      for (const Intake::Edge& edge : ops_[i].intake.edges) ops_[number_[edge.producer.index()]].readers.push_back(i);
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) add_own(i, 1);
  }

  bool is_held_up() const { return busiest() > limit_; }
  // Cycles.
  double links() const { return busiest() / links_.rate(); }
  double latency() const {
    std::vector<double> done(ops_.size(), 0);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      for (const Intake::Edge& edge : ops_[i].intake.edges) done[i] = std::max(done[i], done[number_[edge.producer.index()]]);
      done[i] += ops_[i].placed.model.cycles;
    }
    return *std::max_element(done.begin(), done.end());
  }

  void relieve() {
    for (int round = 0; round < kRounds && is_held_up(); ++round) {
      bool moved = false;
      for (std::size_t i = 0; i < ops_.size(); ++i) moved = (loads_busiest(i) && move(i)) || moved;
      for (std::size_t i = 0; i < ops_.size(); ++i)
        for (std::size_t k = 0; k < ops_.size() && loads_busiest(i); ++k) moved = swap(i, k) || moved;
      if (!moved) break;
    }
  }

  void write_places(Choice& choice) const {
    for (const Movable& op : ops_) choice.ops[op.id.index()].place = op.placed.place;
  }

 private:
  struct Movable {
    OpId id;
    PlacedOp placed;
    Intake intake;
    std::vector<std::size_t> readers;
  };

  double busiest() const { return *std::max_element(bytes_.begin(), bytes_.end()); }

  void add_own(std::size_t i, double factor) {
    links_.add(
        ops_[i].intake, ops_[i].placed.model, ops_[i].placed.place,
        [this](OpId op) -> const PlacedOp& { return ops_[number_[op.index()]].placed; }, factor, bytes_);
  }

  // What changes with the places of these ops: their own messages, and those of their readers, each once.
  std::vector<std::size_t> touched_by(std::initializer_list<std::size_t> ops) const {
    std::vector<std::size_t> out(ops);
    for (std::size_t i : ops) out.insert(out.end(), ops_[i].readers.begin(), ops_[i].readers.end());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  void add_all(const std::vector<std::size_t>& ops, double factor) {
    for (std::size_t i : ops) add_own(i, factor);
  }

  // Whether something changes on the busiest link if the op moves.
  bool loads_busiest(std::size_t i) {
    const auto busiest = static_cast<std::size_t>(std::max_element(bytes_.begin(), bytes_.end()) - bytes_.begin());
    const std::vector<double> all = bytes_;
    add_all(touched_by({i}), -1);
    const bool out = bytes_[busiest] < 0.99 * all[busiest];
    bytes_ = all;
    return out;
  }

  // The busiest links count most; below the slowest op's cycles there is little to gain.
  double weight() const {
    double sum = 0;
    for (double bytes : bytes_) {
      const double x = bytes / std::max(limit_, 1.0), x2 = x * x;
      sum += x2 * x2 * x2;
    }
    return sum;
  }

  bool move(std::size_t i) {
    PlacedOp& placed = ops_[i].placed;
    const auto touched = touched_by({i});
    const double before = weight();
    const std::vector<double> all = bytes_;
    const Place from = placed.place;
    placer_.release(Placer::rect_of(placed.model.grid, from));
    add_all(touched, -1);
    const std::vector<double> others = bytes_;
    Place best = from;
    double least = before * (1 - 1e-3);
    for (const Place& place : all_places(placer_, placed.model.grid, from.transposed)) {
      placed.place = place;
      bytes_ = others;
      add_all(touched, 1);
      if (const double after = weight(); after < least) {
        least = after;
        best = place;
      }
    }
    placed.place = best;
    placer_.take(Placer::rect_of(placed.model.grid, best));
    bytes_ = others;
    add_all(touched, 1);
    if (best == from) bytes_ = all;
    return best != from;
  }

  bool swap(std::size_t i, std::size_t k) {
    PlacedOp &a = ops_[i].placed, &b = ops_[k].placed;
    if (i == k || a.model.grid != b.model.grid || a.place.transposed != b.place.transposed) return false;
    const auto touched = touched_by({i, k});
    const double before = weight();
    const std::vector<double> all = bytes_;
    add_all(touched, -1);
    std::swap(a.place, b.place);
    add_all(touched, 1);
    if (weight() < before * (1 - 1e-3)) return true;
    std::swap(a.place, b.place);
    bytes_ = all;
    return false;
  }

  static std::vector<Place> all_places(const Placer& placer, GridShape grid, bool transposed) {
    if (transposed) std::swap(grid.rows, grid.cols);
    std::vector<Place> out;
    for (std::int32_t r = 0; r + grid.rows <= placer.chip().rows; ++r)
      for (std::int32_t c = 0; c + grid.cols <= placer.chip().cols; ++c)
        if (placer.is_free({{r, c}, grid})) out.push_back({{r, c}, transposed});
    return out;
  }

  const ChipLinks& links_;
  Placer placer_;
  std::vector<std::size_t> number_;  // by OpId: the op's place in ops_
  std::vector<Movable> ops_;
  std::vector<double> bytes_;  // by link
  double limit_ = 0;           // bytes that a link carries while the slowest op works
};

}  // namespace

Result<Relieved> relieved(PolicyContext& context, LinkModel& model, Choice choice) {
  Relieved out;
  out.choice = choice;
  BUDA_TRY(for_each_epoch(context, choice, [&](std::size_t end) {
    MovableEpoch epoch(context, model, end);
    epoch.relieve();
    epoch.write_places(out.choice);
    out.links.push_back(epoch.links());
    out.latency.push_back(epoch.latency());
  }));
  return out;
}

}  // namespace buda::balance
