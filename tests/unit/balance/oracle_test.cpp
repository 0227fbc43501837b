// SPDX-License-Identifier: Apache-2.0
// Small problems on 3x3 workers, solved by trying everything: no bound is above the best plan, the search finds it, and what is said not to
// fit does not.
#include "unit/balance/fixture.hpp"
#include "unit/balance/random_graph.hpp"

#include <buda/balance/bounds/bounds.hpp>
#include <buda/balance/cost/cost.hpp>
#include <buda/balance/problem/schedule.hpp>
#include <buda/balance/resources/resources.hpp>
#include <buda/cost/transfer_model.hpp>
#include <spread/rating/flow_times.hpp>
#include <spread/rating/queue_times.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace buda::balance {
namespace {

constexpr double kNoPlan = std::numeric_limits<double>::infinity();

// Nine workers of an n150, some of them with little memory: it may not even hold the tiles of one step.
device::DeviceDescriptor small_chip(std::uint64_t seed) {
  device::DeviceDescriptor out = board("n150");
  out.workers.x.resize(3);
  out.workers.y.resize(3);
  if (seed % 5 == 0) out.l1.size = out.l1.operands_begin + out.l1.reserved_end + (static_cast<std::uint32_t>(4 + seed % 27 * 4) << 10);
  return out;
}

// 2 to 6 products, exponentials and sums of 1 to 3 tiles a side.
graph::Graph small_graph(std::uint64_t seed) {
  Rng rng(seed);
  DeviceGraph g(cat("small_", seed));
  g.with_values = false;
  struct Value {
    graph::NodeId id;
    std::int64_t rows, cols;
  };
  // Of many ops there are more plans, and of small ones fewer.
  const bool are_many = rng.below(4) == 0;
  const auto side = [&] { return 32 * static_cast<std::int64_t>(1 + rng.below(are_many ? 2 : 3)); };
  const std::int64_t rows = side();
  std::vector<Value> values{{g.input("x", {1, 1, rows, 32 * 2}, {rows, 32 * 2}), rows, 32 * 2}};
  std::set<std::size_t> unread;
  const std::size_t count = are_many ? 5 + rng.below(2) : 2 + rng.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = rng.below(3) == 0 ? rng.below(values.size()) : values.size() - 1;
    const Value v = values[at];
    unread.erase(at);
    const std::string name = cat("op", i);
    std::vector<std::size_t> alike;
    for (std::size_t k = 0; k < values.size(); ++k)
      if (k != at && values[k].cols == v.cols) alike.push_back(k);
    if (const auto kind = rng.below(3); kind == 0 && !alike.empty()) {
      const std::size_t other = alike[rng.below(alike.size())];
      unread.erase(other);
      values.push_back({g.op(name, "add", {v.id, values[other].id}, {1, 1, rows, v.cols}), rows, v.cols});
    } else if (kind == 1) {
      values.push_back({g.op(name, "exp", {v.id}, {1, 1, rows, v.cols}), rows, v.cols});
    } else {
      const std::int64_t cols = side();
      const auto w = g.parameter(name + ".weight", {1, 1, v.cols, cols});
      values.push_back({g.op(name, "matmul", {v.id, w}, {1, 1, rows, cols}), rows, cols});
    }
    unread.insert(values.size() - 1);
  }
  for (std::size_t at : unread) g.output(cat("y", at), values[at].id);
  return std::move(g.graph);
}

// Tries all cuts of the schedule and all models of every op. Where ops stand decides only about links: of each choice the first free places
// are estimated, and where the estimate is more than what models say, all others as well.
class TriesEverything final : public Policy {
 public:
  // Plans of `enough` cycles or more are of no interest.
  explicit TriesEverything(double enough) : best_cycles_(enough) {}

  Result<Choice> choose(Placement placement, const Estimator& estimator) override {
    LinkModel links(placement);
    FlowTimes flow(placement, links);
    placement_ = &placement;
    estimator_ = &estimator;
    links_ = &links;
    flow_ = &flow;
    inputs_ = std::max(placement.space().problem->microbatch, 1);
    if (!estimator.estimates()) return internal_error("no estimate");
    extend(0, 0, 0);
    if (best_) return *best_;
    return internal_error("nothing better");
  }

  bool found() const { return best_.has_value(); }
  double cycles() const { return best_cycles_; }
  std::size_t estimated() const { return estimated_; }
  // Whether nothing was left out for want of time.
  bool is_complete() const { return nodes_ < kMaxNodes; }
  // Whether no estimate was below what models say: then nothing was left out that could be better.
  bool is_sound() const { return sound_; }

 private:
  static constexpr std::size_t kMaxPlaces = 40, kMaxNodes = 20'000;

  double change(std::int64_t cores) const { return std::round(cost::TransferModel(placement_->space().device()).epoch_change(cores)); }

  // What the report says of the present epoch before it looks at paths.
  double epoch_cycles(std::size_t end) {
    double slowest = 0, longest = 0;
    std::int64_t cores = 0;
    std::map<OpId, double> done;
    for (OpId id : placement_->in_epoch()) {
      cores += placement_->placed(id).model.cores();
      const double own = std::round(links_->times.cycles(id, placement_->placed(id).model, ways_in_epoch(*placement_, id, end)));
      double start = 0;
      for (const Operand& operand : placement_->space().op(id).operands)
        if (auto from = done.find(operand.from.op); operand.from.op.valid() && from != done.end()) start = std::max(start, from->second);
      longest = std::max(longest, done[id] = start + own);
      slowest = std::max(slowest, own);
    }
    const cost::PipelineTimes times = flow_->times(end);
    return change(cores) + std::max(longest, std::round(times.first)) + (inputs_ - 1) * std::max(slowest, std::round(times.interval));
  }

  // Op number `next` in every way, after epochs of `before` cycles; `slowest` of the ops of the present one.
  void extend(std::size_t next, double before, double slowest) {
    const auto& schedule = placement_->schedule();
    if (next == schedule.size()) {
      const double cycles = before + epoch_cycles(next);
      if (cycles < best_cycles_) estimate(cycles);
      return;
    }
    for (const bool cuts : {false, true}) {
      double closed = before, open = slowest;
      if (cuts) {
        if (placement_->in_epoch().empty()) continue;
        closed += epoch_cycles(next);
        open = 0;
        placement_->next_epoch();
      }
      for (const OpModel& model : placement_->space().models_of(schedule[next])) {
        const double most = std::max(open, std::round(model.cycles));
        if (closed + change(1) + inputs_ * most >= best_cycles_ || nodes_ >= kMaxNodes) continue;
        ++nodes_;
        if (placement_->place(schedule[next], model)) {
          extend(next + 1, closed, most);
          placement_->rewind(schedule[next]);
          // Rewinding goes back to the epoch of the op before.
          if (cuts) placement_->next_epoch();
        }
      }
      if (cuts && next > 0) restore(next);
    }
  }
  // The epoch of the op before `next` is the present one again.
  void restore(std::size_t next) {
    const OpId last = placement_->schedule()[next - 1];
    const PlacedOp placed = placement_->placed(last);
    placement_->rewind(last);
    if (placement_->epoch() != placed.epoch) placement_->next_epoch();
    ASSERT_TRUE(placement_->place_at(last, placed.model, placed.place));
  }

  void estimate(double by_models) {
    auto choice = placement_->choice();
    if (!choice) return;
    if (estimate(*choice, by_models) > by_models) move(*choice, 0, by_models);
  }

  double estimate(const Choice& choice, double by_models) {
    ++estimated_;
    const auto epochs = estimator_->estimate(choice);
    if (!epochs) return kNoPlan;
    const double cycles = std::accumulate(epochs->begin(), epochs->end(), 0.0);
    sound_ = sound_ && cycles >= by_models - 1;
    if (cycles < best_cycles_) {
      best_cycles_ = cycles;
      best_ = choice;
    }
    return cycles;
  }

  // All places of the ops from `next` on, as many as are counted.
  void move(Choice& choice, std::size_t next, double by_models) {
    if (by_models >= best_cycles_ || places_ >= kMaxPlaces) return;
    if (next == choice.ops.size()) {
      ++places_;
      estimate(choice, by_models);
      return;
    }
    const PlacedOp original = choice.ops[next];
    for (std::int32_t row = 0; row + original.model.grid.rows <= 3; ++row)
      for (std::int32_t col = 0; col + original.model.grid.cols <= 3; ++col) {
        choice.ops[next].place = {{row, col}, false};
        const GridRect own = Placer::rect_of(original.model.grid, choice.ops[next].place);
        const auto is_in_the_way = [&](const PlacedOp& p) {
          return p.epoch == original.epoch && Placer::rect_of(p.model.grid, p.place).overlaps(own);
        };
        if (std::any_of(choice.ops.begin(), choice.ops.begin() + static_cast<std::ptrdiff_t>(next), is_in_the_way)) continue;
        move(choice, next + 1, by_models);
      }
    choice.ops[next] = original;
    if (next == 0) places_ = 0;
  }

  Placement* placement_ = nullptr;
  const Estimator* estimator_ = nullptr;
  LinkModel* links_ = nullptr;
  FlowTimes* flow_ = nullptr;
  double inputs_ = 1, best_cycles_;
  std::optional<Choice> best_;
  std::size_t estimated_ = 0, places_ = 0, nodes_ = 0;
  bool sound_ = true;
};

Result<Balanced> balance_on(const device::DeviceDescriptor& chip, std::uint64_t seed, Policy& policy) {
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  BalanceOptions options;
  constexpr std::int32_t kBatches[] = {1, 4, 32};
  options.batches = kBatches[seed % 3];
  return balance(small_graph(seed), chip, policy, "of the test", options, host);
}

// All grids, blocks, steps, buffers and cuts into parts that there are for an op, by the resource model alone.
bool fits_somehow(const OpSpec& spec, const device::DeviceDescriptor& chip) {
  std::vector<Stream> streams = streams_of(spec);
  streams.push_back({});
  for (const Stream& stream : streams) {
    const netlist::TileShape held = held_shape(spec.out, held_result(spec, stream));
    for (std::int64_t r : divisors(held.rt))
      for (std::int64_t c : divisors(held.ct))
        for (std::int64_t ur : divisors(held.rt / r))
          for (std::int64_t uc : divisors(held.ct / c))
            for (std::int64_t step : divisors(spec.inner))
              for (std::int32_t depth : {1, 2}) {
                if (r > 3 || c > 3 || ur * uc > chip.dest_tiles(spec.op.acc_format)) continue;
                OpModel model;
                model.stream = stream;
                model.grid = {static_cast<std::int32_t>(r), static_cast<std::int32_t>(c)};
                model.block = {static_cast<std::int32_t>(held.t), static_cast<std::int32_t>(held.rt / r / ur),
                               static_cast<std::int32_t>(held.ct / c / uc), static_cast<std::int32_t>(ur), static_cast<std::int32_t>(uc)};
                if (spec.op.type == netlist::OpType::matmul) {
                  model.u_kt = static_cast<std::int32_t>(step);
                  model.m_k = static_cast<std::int32_t>(spec.inner / step);
                }
                model.buf_size_mb = depth;
                if (l1_usage(with_model(spec, model), links_alone(spec, model), chip, nullptr).fits()) return true;
              }
  }
  return false;
}

// Whether an op that was said to have no implementation has none.
void expect_misfits(const Failure& failure, std::uint64_t seed, const device::DeviceDescriptor& chip) {
  graph::Graph graph = small_graph(seed);
  normalize(graph);
  auto problem = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs, {}), chip, 1);
  ASSERT_TRUE(problem.ok());
  for (const Diagnostic& d : failure.diagnostics()) {
    ASSERT_EQ(d.code, "BL011") << "seed " << seed << ": " << d.message;
    for (const OpSpec& spec : problem->ops)
      if (spec.node_name == d.node) EXPECT_FALSE(fits_somehow(spec, chip)) << "seed " << seed << ": " << d.message;
  }
}

// What searches compare: the report's cycles, but for what streams wait for each other by chance.
double rated_cycles(const Balanced& plan) {
  BuiltNetlist built = plan.built;
  for (EpochLoads& loads : built.laid_out.loads) loads.shared = {};
  const std::vector<std::int64_t> candidates(plan.problem.ops.size(), 0);
  return static_cast<double>(make_report(plan.problem, plan.choice, built, candidates, "").totals.cycles);
}

TEST(Oracle, BoundsSearchAndMisfitsAgainstAllPlans) {
  const SeedRange seeds = seeds_wanted(60);
  std::size_t solved = 0, misfits = 0, estimated = 0, left_out = 0;
  double bound_gap = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    const device::DeviceDescriptor chip = small_chip(seed);
    Spread search;
    auto plan = balance_on(chip, seed, search);
    if (!plan) {
      ++misfits;
      expect_misfits(plan.failure(), seed, chip);
      continue;
    }
    const double cycles = rated_cycles(*plan);
    EXPECT_LE(cycles, static_cast<double>(plan->report.totals.cycles)) << "seed " << seed;
    TriesEverything oracle(cycles);
    auto best = balance_on(chip, seed, oracle);
    EXPECT_TRUE(oracle.is_sound()) << "seed " << seed;
    ASSERT_EQ(oracle.found(), best.ok()) << "seed " << seed;
    if (best) EXPECT_EQ(rated_cycles(*best), oracle.cycles()) << "seed " << seed;
    const double optimum = oracle.cycles();
    const auto bound = static_cast<double>(plan->report.totals.schedule_bound->cycles);
    EXPECT_LE(bound, optimum) << "seed " << seed;
    EXPECT_LE(static_cast<double>(plan->report.totals.universal_bound->cycles), optimum) << "seed " << seed;
    EXPECT_EQ(cycles, optimum) << "seed " << seed << ", bound " << bound;
    if (!oracle.is_complete()) {
      ++left_out;
      continue;
    }
    ++solved;
    estimated += oracle.estimated();
    bound_gap += optimum / bound - 1;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(solved, 1));
  std::printf("%zu solved, best above bound by %.1f %%; %zu do not fit, %zu are too large; %zu estimates\n", solved,
              100 * bound_gap / count, misfits, left_out, estimated);
  EXPECT_GT(solved, seeds.is_usual ? 40u : 0u);
  if (seeds.is_usual) EXPECT_GT(misfits, 3u);
}

}  // namespace
}  // namespace buda::balance
