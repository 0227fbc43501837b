// SPDX-License-Identifier: Apache-2.0
// Moves and swaps, one op after the other.
#include "relieve_links.hpp"

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
  // The ops stand in the placement's present epoch, which ends before number `end` of the schedule.
  MovableEpoch(const Placement& placement, LinkModel& model, std::size_t end)
      : links_(model.links), chip_(placement.placer().chip()), number_(placement.schedule().size(), 0) {
    bytes_.assign(links_.count(), 0);
    for (OpId op : placement.in_epoch()) {
      number_[op.index()] = ops_.size();
      const PlacedOp& placed = placement.placed(op);
      const double cycles = model.times.cycles(op, placed.model, ways_in_epoch(placement, op, end));
      ops_.push_back({op, placed, cycles, model.intakes.intake(op, placed.model, end), {}, placement.space().place_rule(op)});
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      limit_ = std::max(limit_, ops_[i].cycles * links_.rate());
      for (const Intake::Edge& edge : ops_[i].intake.edges) ops_[number_[edge.producer.index()]].readers.push_back(i);
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) add_own(i, 1);
  }

  bool is_held_up() const { return busiest() > limit_; }
  // Cycles.
  double links() const { return busiest() / links_.rate(); }
  double slowest() const { return limit_ / links_.rate(); }
  double latency() const {
    std::vector<double> done(ops_.size(), 0);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      for (const Intake::Edge& edge : ops_[i].intake.edges) done[i] = std::max(done[i], done[number_[edge.producer.index()]]);
      done[i] += ops_[i].cycles;
    }
    return *std::max_element(done.begin(), done.end());
  }

  void relieve() {
    for (int round = 0; round < kRounds && is_held_up(); ++round) {
      bool moved = false;
      for (std::size_t i = 0; i < ops_.size(); ++i) moved = (loads_busiest(i) && move(i)) || moved;
      if (!moved) break;
    }
  }

  std::vector<PlacedOp> placed() const {
    std::vector<PlacedOp> out;
    for (const Movable& op : ops_) out.push_back(op.placed);
    return out;
  }

 private:
  struct Movable {
    OpId id;
    PlacedOp placed;
    double cycles;
    Intake intake;
    std::vector<std::size_t> readers;
    PlaceRule rule;
  };

  double busiest() const { return *std::max_element(bytes_.begin(), bytes_.end()); }

  void add_own(std::size_t i, double factor) {
    links_.add(
        ops_[i].intake, ops_[i].placed.model, ops_[i].placed.place,
        [this](OpId op) -> const PlacedOp& { return ops_[number_[op.index()]].placed; }, factor, bytes_);
  }

  // What changes with the places of these ops: their own messages, and those of their readers, each once.
  std::vector<std::size_t> touched_by(const std::vector<std::size_t>& ops) const {
    std::vector<std::size_t> out = ops;
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

  struct Move {
    std::size_t op;
    Place place;
  };
  static GridRect rect_of(const PlacedOp& op) { return Placer::rect_of(op.model.grid, op.place); }

  // What moves if op `i` stands at `place`: the op alone where there is room, or together with those that stand there; they take its place.
  // Nothing where that cannot be.
  std::vector<Move> moves_to(std::size_t i, const Place& place) const {
    const GridRect from = rect_of(ops_[i].placed), to = Placer::rect_of(ops_[i].placed.model.grid, place);
    std::vector<Move> out;
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      const GridRect rect = rect_of(ops_[k].placed);
      if (k == i || !rect.overlaps(to)) continue;
      if (from.overlaps(to) || !holds(to, rect)) return {};
      Place other = ops_[k].placed.place;
      other.at.row += from.origin.row - to.origin.row;
      other.at.col += from.origin.col - to.origin.col;
      if (!ops_[k].rule.allows(other)) return {};
      out.push_back({k, other});
    }
    out.push_back({i, place});
    return out;
  }

  static bool holds(const GridRect& outer, const GridRect& inner) {
    return inner.origin.row >= outer.origin.row && inner.origin.col >= outer.origin.col &&
           inner.origin.row + inner.shape.rows <= outer.origin.row + outer.shape.rows &&
           inner.origin.col + inner.shape.cols <= outer.origin.col + outer.shape.cols;
  }

  // Sets the places and gives back the former ones.
  std::vector<Move> make(const std::vector<Move>& moves) {
    std::vector<std::size_t> ops;
    for (const Move& move : moves) ops.push_back(move.op);
    const auto touched = touched_by(ops);
    std::vector<Move> back;
    add_all(touched, -1);
    for (const Move& move : moves) back.push_back({move.op, std::exchange(ops_[move.op].placed.place, move.place)});
    add_all(touched, 1);
    return back;
  }

  // Takes the op to where the links have least to carry; false where that is where it stands.
  bool move(std::size_t i) {
    const Place from = ops_[i].placed.place;
    const std::vector<double> all = bytes_;
    double least = weight() * (1 - 1e-3);
    std::vector<Move> best;
    // Where nothing else moves, only what the op itself touches changes.
    const auto touched = touched_by({i});
    add_all(touched, -1);
    const std::vector<double> without = std::exchange(bytes_, all);
    for (const Place& place : all_places(ops_[i].placed.model.grid, from.transposed)) {
      if (place == from || !ops_[i].rule.allows(place)) continue;
      const auto moves = moves_to(i, place);
      if (moves.empty()) continue;
      std::vector<Move> back;
      if (moves.size() == 1) {
        bytes_ = without;
        back.push_back({i, std::exchange(ops_[i].placed.place, place)});
        add_all(touched, 1);
      } else {
        back = make(moves);
      }
      if (const double after = weight(); after < least) {
        least = after;
        best = moves;
      }
      for (const Move& move : back) ops_[move.op].placed.place = move.place;
      bytes_ = all;
    }
    if (!best.empty()) make(best);
    return !best.empty();
  }

  std::vector<Place> all_places(GridShape grid, bool transposed) const {
    if (transposed) std::swap(grid.rows, grid.cols);
    std::vector<Place> out;
    for (std::int32_t r = 0; r + grid.rows <= chip_.rows; ++r)
      for (std::int32_t c = 0; c + grid.cols <= chip_.cols; ++c) out.push_back({{r, c}, transposed});
    return out;
  }

  const ChipLinks& links_;
  GridShape chip_;
  std::vector<std::size_t> number_;  // by OpId: the op's place in ops_
  std::vector<Movable> ops_;
  std::vector<double> bytes_;  // by link
  double limit_ = 0;           // bytes that a link carries while the slowest op works
};

}  // namespace

RelievedEpoch relieved_epoch(const Placement& placement, LinkModel& model, std::size_t end) {
  MovableEpoch epoch(placement, model, end);
  epoch.relieve();
  return {epoch.placed(), epoch.links(), epoch.slowest(), epoch.latency()};
}

}  // namespace buda::balance
