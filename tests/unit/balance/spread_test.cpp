// SPDX-License-Identifier: Apache-2.0
// The policy that spreads each epoch's work over the chip.
#include <buda/balance/models/alike.hpp>
#include <buda/balance/policy/check_choice.hpp>
#include <buda/base/rng.hpp>
#include <buda/pipes/noc/routes.hpp>
#include <spread/epoch_pool.hpp>
#include <spread/epoch_search.hpp>
#include <spread/moves/even_channels.hpp>
#include <spread/moves/relieve_links.hpp>
#include <spread/moves/tighten_epochs.hpp>
#include <spread/spread.hpp>
#include <spread/trials.hpp>

#include "unit/balance/fixture.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace buda::balance {
namespace {

// What the policy makes of a graph, with the space that it chose from.
struct Chosen {
  explicit Chosen(graph::Graph graph, const std::vector<std::string>& breaks = {}) {
    normalize(graph);
    auto made = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board("n150"));
    EXPECT_TRUE(made.ok());
    problem = std::move(*made);
    space.problem = std::make_shared<const Problem>(problem);
    space.overrides.resize(problem.ops.size());
    for (std::size_t i = 0; i < problem.ops.size(); ++i) {
      space.models.push_back(legal_models(problem.ops[i], *problem.device, {}, nullptr));
      if (std::find(breaks.begin(), breaks.end(), problem.ops[i].node_name) != breaks.end()) space.overrides[i].epoch_break = true;
    }
    auto found = spread(Placement(space), Estimator(), {});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : text_of(found.failure()));
    if (found) choice = std::move(*found);
  }
  Problem problem;
  ChoiceSpace space;
  Choice choice;
};

Choice by_size(const ChoiceSpace& space, bool largest) {
  auto choice = BySize(largest).choose(Placement(space), {});
  EXPECT_TRUE(choice.ok());
  return choice.ok() ? *choice : Choice{};
}

// Layers of very different work.
graph::Graph uneven() { return perceptron(8 * 32, {64, 2048, 1024, 128, 64}); }

TEST(Spread, IsLegalAndBeatsTheExtremes) {
  const Chosen c(uneven());
  EXPECT_TRUE(check_choice(c.space, c.choice).empty());
  const double cycles = pipelined_cycles(c.choice);
  EXPECT_LT(3 * cycles, pipelined_cycles(by_size(c.space, false)));
  EXPECT_LE(cycles, pipelined_cycles(by_size(c.space, true)));
}

TEST(Spread, OpsGetNoMoreCoresThanTheyNeed) {
  const Chosen c(uneven());
  for (const PlacedOp& op : c.choice.ops) {
    double slowest = 0;
    for (const PlacedOp& other : c.choice.ops)
      if (other.epoch == op.epoch) slowest = std::max(slowest, other.model.cycles);
    // A smaller legal model that is as fast as the slowest op may be refused by neighbours, but not one of a quarter of the cores.
    const auto i = static_cast<std::size_t>(&op - c.choice.ops.data());
    for (const OpModel& m : c.space.models[i].models)
      if (4 * m.cores() <= op.model.cores()) {
        EXPECT_GT(m.cycles, slowest) << c.problem.ops[i].label << ": " << m.text();
      }
  }
}

TEST(Spread, EpochBreaksAreKept) {
  const Chosen c(perceptron(32, {32, 32, 32, 32}), {"fc2"});
  ASSERT_EQ(c.choice.ops.size(), 3u);
  EXPECT_EQ(c.choice.ops[0].epoch, 0);
  EXPECT_EQ(c.choice.ops[1].epoch, 1);
  EXPECT_EQ(c.choice.ops[2].epoch, 1);
}

// Searches run beside each other, and layers that are alike share what is known of them; neither changes the plan.
TEST(Spread, IsTheSameWithAnyThreadsAndKinds) {
  Chosen c(perceptron(4 * 32, {128, 128, 128, 128, 64}));
  const auto cycles_of_epochs = [](const Choice& choice) -> std::optional<std::vector<double>> {
    std::vector<double> out(static_cast<std::size_t>(choice.epochs()), 0);
    for (const PlacedOp& op : choice.ops) out[static_cast<std::size_t>(op.epoch)] += op.model.cycles;
    return out;
  };
  std::optional<Choice> first;
  for (bool kinds : {false, true}) {
    if (kinds) c.space.kinds = first_alike(c.problem);
    for (unsigned threads : {1u, 2u, 8u}) {
      c.space.threads = threads;
      const auto found = spread(Placement(c.space), Estimator(cycles_of_epochs), {});
      ASSERT_TRUE(found.ok());
      if (!first) first = *found;
      EXPECT_EQ(*first, *found) << threads << " threads";
    }
  }
  EXPECT_NE(c.space.kinds[2], 2u);
}

TEST(TightenedEpochs, UseTheCoresThatAreLeft) {
  const Chosen c(uneven());
  const Choice small = by_size(c.space, false);
  Placement placement(c.space);
  LinkModel links(placement);
  PacedPlacer placer(placement, PlaceGoal::first, links);
  const auto found = tightened(placer, small);
  ASSERT_TRUE(found.ok()) << text_of(found.failure());
  EXPECT_TRUE(check_choice(c.space, *found).empty());
  EXPECT_LT(pipelined_cycles(*found), 0.9 * pipelined_cycles(small));
  for (std::size_t i = 0; i < small.ops.size(); ++i) EXPECT_EQ(found->ops[i].epoch, small.ops[i].epoch) << i;
}

// Ops that mind the links stand as legally as others, with or without an eye on the op before.
TEST(TightenedEpochs, MindLinks) {
  const Chosen c(uneven());
  for (PlaceGoal goal : {PlaceGoal::links, PlaceGoal::pairs}) {
    Placement placement(c.space);
    LinkModel links(placement);
    PacedPlacer placer(placement, goal, links);
    const auto found = tightened(placer, c.choice);
    ASSERT_TRUE(found.ok()) << text_of(found.failure());
    EXPECT_TRUE(check_choice(c.space, *found).empty());
  }
}

// The placement's first epoch of a choice stands, and ends before the number that is returned.
std::size_t stand_first(Placement& placement, const Choice& choice) {
  const auto bounds = bounds_of(placement, choice);
  EXPECT_TRUE(stand_as_in(placement, bounds[0], bounds[1], choice));
  return bounds[1];
}

TEST(Pack, PlacesWhatFitsInAnyOrder) {
  const Chosen c(uneven());
  Placement placement(c.space);
  LinkModel links(placement);
  PacedPlacer placer(placement, PlaceGoal::first, links);
  const std::size_t end = stand_first(placement, c.choice);
  placer.expect_end(end);
  double slowest = 0;
  for (OpId op : placement.in_epoch()) slowest = std::max(slowest, placer.cycles(op));
  ASSERT_TRUE(placer.pack(0, end, std::vector<double>(end, 2 * slowest)));
  EXPECT_EQ(placement.in_epoch().size(), end);
  for (OpId op : placement.in_epoch()) EXPECT_LE(placer.cycles(op), 2 * slowest);
  // Nothing is so fast; then the epoch is empty.
  EXPECT_FALSE(placer.pack(0, end, std::vector<double>(end, 1.0)));
  EXPECT_TRUE(placement.in_epoch().empty());
}

// Loading a queue's tensor takes a core longer than taking it from cores beside it, and a model without queues nothing of the kind.
TEST(QueueTimes, CountReadsAndWrites) {
  const Chosen c(perceptron(8 * 32, {64, 256, 128, 64}));
  Placement placement(c.space);
  QueueTimes times(placement);
  const OpId op = placement.schedule()[1];
  for (const OpModel& model : placement.space().models_of(op)) {
    EXPECT_EQ(times.cycles(op, model, {}), model.cycles);
    EXPECT_GE(times.cycles(op, model, {1, false}), model.cycles);
    EXPECT_GE(times.cycles(op, model, {1, true}), times.cycles(op, model, {0, true}));
  }
  Choice split = by_size(c.space, true);
  for (std::size_t i = 0; i < split.ops.size(); ++i) split.ops[i].epoch = i < 2 ? 0 : 1;
  EXPECT_EQ(ways_in_choice(placement, split, placement.schedule()[1]).read, 0u);
  EXPECT_TRUE(ways_in_choice(placement, split, placement.schedule()[1]).written);
  EXPECT_EQ(ways_in_choice(placement, split, placement.schedule()[2]).read, 1u);
}

// A row of 12 tiles, as a mask, that is read for each row of tiles of each of 16 heads: from one buffer, one channel would move all of it.
TEST(QueueTimes, ResultsThatAreReadManyTimesAreBetterSpread) {
  DeviceGraph g;
  auto mask = g.op("mask", "sqrt", {g.input("m", {1, 1, 32, 384}, {32, 384})}, {1, 1, 32, 384});
  auto scores = g.op("scores", "sqrt", {g.input("x", {1, 16, 384, 384}, {16, 384, 384})}, {1, 16, 384, 384});
  const graph::Edge repeated(mask, {graph::Tm::broadcast(graph::TmDim::r, 12), graph::Tm::broadcast(graph::TmDim::z, 16)});
  g.output("y", g.op("masked", "add", {scores, repeated}, {1, 16, 384, 384}), {16, 384, 384});
  const Chosen c(g.graph);
  Placement placement(c.space);
  QueueTimes times(placement);
  OpId spread, read_once;
  for (OpId op : placement.schedule()) (placement.space().op(op).label == "mask" ? spread : read_once) = op;
  std::int64_t most = 0;
  for (const OpModel& model : placement.space().models_of(spread)) most = std::max(most, std::min<std::int64_t>(model.cores(), 6));
  ASSERT_GT(most, 1);
  double on_one_core = 0;
  for (const OpModel& model : placement.space().models_of(spread)) {
    const double cycles = times.read_again(spread, model);
    EXPECT_EQ(cycles > 0, model.cores() < most) << model.cores();
    if (model.cores() == 1) on_one_core = cycles;
    if (cycles > 0 && model.cores() > 1) EXPECT_LT(cycles, on_one_core);
  }
  for (const OpModel& model : placement.space().models_of(read_once)) EXPECT_EQ(times.read_again(read_once, model), 0);
}

// Two multicasts meet on as many links as the networks' own rules say, at the port of a core that sends both, and at those of all cores
// that take both, the senders among them.
TEST(ChipLinks, AreThoseThatMessagesPass) {
  const device::DeviceDescriptor& device = board("n150");
  const ChipLinks links(device);
  OpModel whole;
  whole.grid = device.grid();
  using Hops = std::set<std::size_t>;  // numbers of links and ports
  struct Way {
    std::vector<double> bytes;
    Hops hops;
  };
  Rng rng(7);
  const auto some_way = [&] {
    const auto core = [&] {
      return GridCoord{static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(whole.grid.rows))),
                       static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(whole.grid.cols)))};
    };
    const GridCoord first = core();
    const GridCoord end = rng.below(2) == 0 ? GridCoord{first.row, core().col} : GridCoord{core().row, first.col};
    Intake intake;
    intake.multicasts.push_back({first, end, 1, static_cast<std::int32_t>(rng.below(2))});
    const Intake::Multicast& m = intake.multicasts.front();
    Way out;
    out.bytes.assign(links.count(), 0);
    links.add(intake, whole, {}, {}, 1, out.bytes);
    const device::NocCoord from = device.noc_of_worker(m.from), to = device.noc_of_worker(m.last);
    pipes::for_each_hop(m.noc, from, to, device.noc, [&](pipes::NocAxis axis, device::NocCoord at) {
      out.hops.insert(pipes::link_number(m.noc, axis, at, device.noc));
    });
    if (from != to) {
      out.hops.insert(pipes::port_number(m.noc, pipes::NocPort::output, from, device.noc));
      for (std::int32_t row = std::min(first.row, end.row); row <= std::max(first.row, end.row); ++row)
        for (std::int32_t col = std::min(first.col, end.col); col <= std::max(first.col, end.col); ++col)
          out.hops.insert(pipes::port_number(m.noc, pipes::NocPort::input, device.noc_of_worker({row, col}), device.noc));
    }
    return out;
  };
  std::size_t meetings = 0;
  for (int i = 0; i < 500; ++i) {
    const Way a = some_way(), b = some_way();
    EXPECT_EQ(std::accumulate(a.bytes.begin(), a.bytes.end(), 0.0), static_cast<double>(a.hops.size()));
    const auto common = std::count_if(a.hops.begin(), a.hops.end(), [&](const auto& hop) { return b.hops.contains(hop); });
    EXPECT_EQ(std::inner_product(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), 0.0), static_cast<double>(common));
    meetings += common > 0 ? 1 : 0;
  }
  EXPECT_GT(meetings, 20u);
}

// A column of cores is fed through its own links unless as many rows stand beside it.
TEST(PairLinks, AreLeastBetweenEqualRows) {
  const Chosen c(perceptron(8 * 32, {2048, 2048, 2048}));
  Placement placement(c.space);
  LinkModel model(placement);
  const OpId op = placement.schedule()[1];
  const auto with_grid = [&](OpId id, GridShape grid) {
    const auto all = placement.space().models_of(id);
    const auto found = std::find_if(all.begin(), all.end(), [&](const OpModel& m) { return m.grid == grid; });
    EXPECT_NE(found, all.end());
    OpModel out = *found;
    out.kernel_cycles = 1;  // so that the links decide
    return out;
  };
  const OpModel column = with_grid(op, {8, 1});
  const double beside = model.pairs.cycles(op, column, 0, with_grid(placement.schedule()[0], {8, 1}));
  EXPECT_GT(beside, 0);
  EXPECT_GT(model.pairs.cycles(op, column, 0, with_grid(placement.schedule()[0], {1, 8})), 2 * beside);
}

// A producer whose buffer holds one result waits until its reader has taken it.
TEST(PairLinks, AreSlowerBehindASingleBuffer) {
  const Chosen c(perceptron(8 * 32, {2048, 2048, 2048}));
  Placement placement(c.space);
  LinkModel model(placement);
  const OpId op = placement.schedule()[1], before = placement.schedule()[0];
  std::size_t slower = 0;
  for (const OpModel& reader : placement.space().models_of(op))
    for (const OpModel& producer : placement.space().models_of(before)) {
      if (producer.grid != reader.grid || producer.buf_size_mb < 2) continue;
      OpModel single = producer;
      single.buf_size_mb = 1;
      const double both = model.pairs.cycles(op, reader, 0, producer), with_one = model.pairs.cycles(op, reader, 0, single);
      // Some cannot stand in one epoch.
      if (both == 0 || with_one == 0) continue;
      EXPECT_GE(both, 0.99 * std::max(producer.kernel_cycles, reader.kernel_cycles));
      slower += with_one > 1.1 * both ? 1 : 0;
    }
  EXPECT_GT(slower, 0u);
}

// Transfers alone never take longer than with all that buffers cost.
TEST(PairLinks, CountTransfersAlone) {
  const Chosen c(perceptron(8 * 32, {2048, 2048, 2048}));
  Placement placement(c.space);
  LinkModel buffers(placement), transfers(placement, PairCost::transfers);
  const OpId op = placement.schedule()[1], before = placement.schedule()[0];
  std::size_t lower = 0;
  for (const OpModel& reader : placement.space().models_of(op))
    for (const OpModel& producer : placement.space().models_of(before)) {
      const double all = buffers.pairs.cycles(op, reader, 0, producer), alone = transfers.pairs.cycles(op, reader, 0, producer);
      EXPECT_LE(alone, 1.01 * all) << reader.text() << " behind " << producer.text();
      lower += alone < 0.9 * all ? 1 : 0;
    }
  EXPECT_GT(lower, 0u);
}

TEST(PacedPlacer, KnowsTheEdgesOfAnEpoch) {
  const Chosen c(uneven());
  Placement placement(c.space);
  LinkModel links(placement);
  PacedPlacer placer(placement, PlaceGoal::pairs, links);
  const std::size_t end = stand_first(placement, c.choice);
  ASSERT_GT(end, 1u);
  const std::vector<OpId> ops(placement.in_epoch());
  const std::vector<double> edges = placer.edge_cycles(ops);
  const double first = links.pairs.cycles(ops[1], placement.placed(ops[1]).model, 0, placement.placed(ops[0]).model);
  EXPECT_EQ(edges[0], first);
  EXPECT_GE(edges[1], first);
}

TEST(Hastened, GivesIdleCoresToTheLongestWay) {
  const Chosen c(perceptron(8 * 32, {64, 64, 64}));
  Placement placement(c.space);
  StandingEpoch epoch;
  for (std::size_t i = 0; i < 2; ++i) epoch.ops.push_back(placement.schedule()[i]);
  epoch.cycles = {100, 60};
  epoch.interval = 100;
  const std::vector<std::vector<CoreCost>> choices{{{1, 100}, {2, 50}, {8, 40}}, {{1, 60}, {4, 15}}};
  EXPECT_EQ(hastened(placement, epoch, choices, 0), epoch.cycles);
  EXPECT_EQ(hastened(placement, epoch, choices, 1), (std::vector<double>{50, 60}));
  EXPECT_EQ(hastened(placement, epoch, choices, 4), (std::vector<double>{50, 15}));
  EXPECT_EQ(hastened(placement, epoch, choices, 10), (std::vector<double>{40, 15}));
}

TEST(EpochSearch, MakesSlowEpochsFaster) {
  const Chosen c(uneven());
  Placement placement(c.space);
  const Estimator estimator([](const Choice&) { return std::nullopt; });
  LinkModel links(placement);
  RepeatedRuns runs(placement);
  Trials trials(placement, estimator, links, runs, 64);
  std::vector<PacedPlacer> placers;
  placers.emplace_back(placement, PlaceGoal::first, links);
  const Trial small = trials.rated(by_size(c.space, false));
  EpochSearch search(placers, trials, runs, false);
  const Trial better = search.improved(small, 0);
  EXPECT_LT(better.cycles, 0.8 * small.cycles);
  EXPECT_TRUE(check_choice(c.space, better.choice).empty());
  EXPECT_EQ(better.choice.epochs(), small.choice.epochs());
}

// What is known of links while ops are placed is what streams bring later: by the nearer networks at worst, otherwise relieved by the other
// one.
TEST(LinkLoads, AreThoseOfTheReport) {
  std::size_t compared = 0;
  for (const auto& sizes : {std::vector<std::int64_t>{64, 2048, 1024, 128, 64}, {512, 512, 512, 512, 512, 512}, {2048, 256, 2048}}) {
    BySize policy(true);
    BalanceOptions options;
    options.batches = 8;
    auto balanced = balance_with(perceptron(8 * 32, sizes), "n150", options, policy);
    ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
    ChoiceSpace space;
    space.problem = std::make_shared<const Problem>(balanced->problem);
    space.overrides.resize(balanced->problem.ops.size());
    for (std::size_t i = 0; i < balanced->problem.ops.size(); ++i)
      space.models.emplace_back().models.push_back(balanced->choice.ops[i].model);
    Placement placement(space);
    LinkModel model(placement);
    Choice unmoved = balanced->choice;
    ASSERT_TRUE(for_each_epoch(placement, unmoved, [&](std::size_t end) {
                  LinkLoads loads(placement, model);
                  loads.follow(end);
                  const auto& epoch = balanced->report.epochs[static_cast<std::size_t>(placement.epoch())];
                  for (const ReportPath& path : epoch.paths)
                    if (path.kind == "NoC") {
                      EXPECT_LE(loads.busiest(), 2.2 * static_cast<double>(path.cycles));
                      EXPECT_GE(1.6 * loads.busiest(), static_cast<double>(path.cycles));
                      ++compared;
                    }
                }).ok());
  }
  EXPECT_GE(compared, 3u);
}

TEST(RelievedLinks, AreNoBusierThanBefore) {
  const Chosen c(uneven());
  const Choice large = by_size(c.space, true);
  Placement placement(c.space);
  LinkModel model(placement);
  Choice moved = large;
  EXPECT_TRUE(for_each_epoch(placement, large, [&](std::size_t end) {
                LinkLoads before(placement, model);
                before.follow(end);
                const RelievedEpoch epoch = relieved_epoch(placement, model, end);
                EXPECT_LE(epoch.links, before.busiest() * (1 + 1e-9));
                EXPECT_GE(epoch.latency, epoch.slowest);
                ASSERT_EQ(epoch.ops.size(), placement.in_epoch().size());
                for (std::size_t i = 0; i < epoch.ops.size(); ++i) moved.ops[placement.in_epoch()[i].index()] = epoch.ops[i];
              }).ok());
  EXPECT_TRUE(check_choice(c.space, moved).empty());
}

// What an estimate says counts, and what cannot be built loses.
TEST(Trials, CompareByTheEstimate) {
  const Chosen c(uneven());
  const Choice small = by_size(c.space, false), large = by_size(c.space, true);
  auto trial_of = [](const Choice& choice) {
    Trial out;
    out.choice = choice;
    return out;
  };
  for (bool small_is_best : {false, true}) {
    Placement placement(c.space);
    const Estimator estimator([&](const Choice& choice) -> std::optional<std::vector<double>> {
      if (choice == c.choice) return std::nullopt;
      return std::vector<double>(static_cast<std::size_t>(choice.epochs()), (choice == small) == small_is_best ? 1 : 1e9);
    });
    LinkModel links(placement);
    RepeatedRuns runs(placement);
    Trials trials(placement, estimator, links, runs, 1);
    ASSERT_TRUE(trials.estimates());
    const Trial first = trials.estimated(trial_of(c.choice)), second = trials.estimated(trial_of(small)),
                third = trials.estimated(trial_of(large));
    EXPECT_TRUE(first.fails);
    EXPECT_FALSE(second.fails || third.fails);
    EXPECT_EQ(second.is_better(third), small_is_best);
    EXPECT_TRUE(second.is_better(first) && third.is_better(first));
  }
}

// Two plans of two epochs, each of which has the faster one of them.
TEST(EpochPool, PutsTheFastestEpochsTogether) {
  const Chosen c(uneven(), {"fc2"});
  Choice small = by_size(c.space, false), large = small;
  Placement placement(c.space);
  ASSERT_EQ(bounds_of(placement, small).size(), 3u);
  const std::size_t cut = bounds_of(placement, small)[1];
  // The first ops differ in models, the last ones in places.
  const Choice largest = by_size(c.space, true);
  for (std::size_t i = 0; i < cut; ++i) large.ops[i] = largest.ops[i];
  ASSERT_EQ(bounds_of(placement, large), bounds_of(placement, small));
  for (std::size_t i = cut; i < large.ops.size(); ++i) ++large.ops[i].place.at.row;
  Trial first, second;
  first.choice = small;
  first.epochs = {10, 100};
  second.choice = large;
  second.epochs = {100, 10};
  RepeatedRuns runs(placement);
  EpochPool pool(small.ops.size(), 1);
  EXPECT_FALSE(pool.best(placement));
  pool.add(placement, runs, first);
  EpochPool other(small.ops.size(), 1);
  other.add(placement, runs, second);
  pool.add(other);
  const auto best = pool.best(placement);
  ASSERT_TRUE(best);
  for (std::size_t i = 0; i < small.ops.size(); ++i) EXPECT_EQ(best->ops[i], i < cut ? small.ops[i] : large.ops[i]) << i;
  // What an estimate says of an epoch counts for that one only.
  first.epochs = {5, 1};
  pool.correct(placement, runs, first);
  EXPECT_EQ(pool.best(placement)->ops.back(), large.ops.back());
  // An epoch that does not stand is left out.
  Trial outside = first;
  outside.choice.ops.back().place.at = {100, 100};
  outside.epochs = {1, 1};
  pool.add(placement, runs, outside);
  EXPECT_FALSE(pool.best(placement));
}

// A search that does not end: every placement of the policy takes from one budget.
TEST(Placement, PlacingEndsWithTheBudget) {
  Chosen c(uneven());
  c.space.placement_budget = 5;
  Placement placement(c.space);
  Placement second = placement;
  const OpId first = placement.schedule().front();
  const OpModel& model = placement.space().models_of(first).front();
  const auto place_and_take_back = [&](Placement& in) {
    if (in.place(first, model)) in.rewind(first);
  };
  for (int i = 0; i < 3; ++i) place_and_take_back(placement);
  EXPECT_EQ(second.placements_left(), 2);
  for (int i = 0; i < 2; ++i) place_and_take_back(second);
  try {
    place_and_take_back(placement);
    FAIL() << "placed once more";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "it placed ops 5 times, which is its budget at effort 1; placements_left() tells what remains");
  }
}

// No estimate of a policy is below the bound that it sees, which counts more than that of the report: each change of epochs as a whole.
TEST(Placement, HasABoundOfEstimates) {
  struct Asks final : Policy {
    Result<Choice> choose(Placement placement, const Estimator& estimator) override {
      bound = estimator.bound();
      for (OpId op : placement.schedule())
        BUDA_TRY(placement.place_best(op, [](const auto& a, const auto& b) { return a.cycles < b.cycles; }));
      BUDA_ASSIGN(Choice choice, placement.choice());
      if (!estimator.estimates()) return choice;
      if (const auto cycles = estimator.estimate(choice)) estimate = std::accumulate(cycles->begin(), cycles->end(), 0.0);
      return choice;
    }
    std::optional<double> bound;
    double estimate = 0;
  };
  Asks policy;
  const auto graph = perceptron(1024, {64, 1024, 1024});
  auto result = balance_with(graph, "n150", {}, policy);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(policy.bound && result->report.totals.schedule_bound);
  EXPECT_GE(static_cast<std::int64_t>(*policy.bound), result->report.totals.schedule_bound->cycles);
  EXPECT_LE(*policy.bound, policy.estimate);
}

TEST(Trials, RateByOpsLinksAndDram) {
  const Chosen c(uneven());
  Placement placement(c.space);
  const Estimator estimator([](const Choice&) { return std::nullopt; });
  LinkModel links(placement);
  RepeatedRuns runs(placement);
  Trials trials(placement, estimator, links, runs, 1);
  const std::size_t before = trials.ops_left();
  const Trial small = trials.rated(by_size(c.space, false)), large = trials.rated(by_size(c.space, true));
  EXPECT_EQ(trials.ops_left() + 2 * c.problem.ops.size(), before);
  EXPECT_FALSE(small.fails);
  EXPECT_GE(small.cycles, pipelined_cycles(small.choice));
  EXPECT_TRUE(large.is_better(small));
  EXPECT_EQ(small.epochs.size(), static_cast<std::size_t>(small.choice.epochs()));
}

// On one core each, both ops write all that they make to one buffer, which is most of what their epochs move.
TEST(EvenChannels, GiveLargeResultsSeveralBuffers) {
  const Chosen c(perceptron(1024, {64, 1024, 1024}), {"fc2"});
  Placement placement(c.space);
  LinkModel links(placement);
  const Choice small = by_size(c.space, false);
  const auto even = with_even_channels(placement, links, small, EvenRules{});
  ASSERT_TRUE(even.has_value());
  EXPECT_TRUE(check_choice(c.space, *even).empty());
  for (std::size_t i = 0; i < small.ops.size(); ++i) {
    EXPECT_EQ(even->ops[i].epoch, small.ops[i].epoch);
    EXPECT_LE(even->ops[i].model.cycles, small.ops[i].model.cycles);
  }
  EXPECT_GT(even->ops[0].model.cores(), small.ops[0].model.cores());
  EXPECT_FALSE(with_even_channels(placement, links, *even, EvenRules{}).has_value()) << "there is nothing left to do";
}

// Ops of other kinds stay as they are.
TEST(EvenChannels, DivideOneKindOfOps) {
  const Chosen c(perceptron(1024, {64, 1024, 1024}), {"fc2"});
  Placement placement(c.space);
  LinkModel links(placement);
  const Choice small = by_size(c.space, false);
  const std::set<std::size_t> kinds = uneven_kinds(placement, links, small);
  ASSERT_GE(kinds.size(), 2u);
  const auto even = with_even_channels(placement, links, small, {.kind = *kinds.begin()});
  ASSERT_TRUE(even.has_value());
  for (std::size_t i = 0; i < small.ops.size(); ++i)
    if (placement.space().kind_of(OpId(static_cast<std::uint32_t>(i))) != *kinds.begin()) EXPECT_EQ(even->ops[i].model, small.ops[i].model);
}

TEST(EvenChannels, LeaveSmallResultsAlone) {
  const Chosen c(perceptron(32, {64, 32, 32}), {"fc2"});
  Placement placement(c.space);
  LinkModel links(placement);
  EXPECT_FALSE(with_even_channels(placement, links, by_size(c.space, false), EvenRules{}).has_value());
}

TEST(PipelinedCycles, AreOfTheSlowestOpOfEachEpoch) {
  Choice choice;
  for (auto [epoch, cycles] : {std::pair{0, 5.0}, std::pair{0, 7.0}, std::pair{1, 3.0}}) {
    PlacedOp op;
    op.epoch = epoch;
    op.model.cycles = cycles;
    choice.ops.push_back(op);
  }
  EXPECT_EQ(pipelined_cycles(choice), 10);
  EXPECT_EQ(pipelined_cycles({}), 0);
}

}  // namespace
}  // namespace buda::balance
