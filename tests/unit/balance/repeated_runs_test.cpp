// SPDX-License-Identifier: Apache-2.0
// What repeated layers have in common, and what the search makes of it.
#include "fixture.hpp"

#include <buda/balance/models/alike.hpp>
#include <spread/epoch_pool.hpp>
#include <spread/rating/repeated_runs.hpp>
#include <spread/trials.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace buda::balance {
namespace {

// Layers fc1 … of the given sizes, each in an epoch of its own if `apart`, and their smallest implementations.
struct Layers {
  explicit Layers(const std::vector<std::int64_t>& sizes, bool apart = false) {
    graph::Graph graph = perceptron(64, sizes);
    normalize(graph);
    auto made = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board("n150"));
    EXPECT_TRUE(made.ok());
    problem = std::move(*made);
    space.problem = std::make_shared<const Problem>(problem);
    space.kinds = first_alike(problem);
    space.overrides.resize(problem.ops.size());
    for (std::size_t i = 0; i < problem.ops.size(); ++i) {
      space.models.push_back(legal_models(problem.ops[i], *problem.device, {}, nullptr));
      if (apart && i > 0) space.overrides[i].epoch_break = true;
    }
    auto placed = BySize(false).choose(Placement(space), {});
    EXPECT_TRUE(placed.ok());
    if (placed) choice = std::move(*placed);
  }
  Problem problem;
  ChoiceSpace space;
  Choice choice;
};

TEST(RepeatedRuns, AreFedAlike) {
  const Layers layers({64, 64, 64, 64, 96});
  const Placement placement(layers.space);
  ASSERT_EQ(placement.schedule().size(), 4u);
  RepeatedRuns runs(placement);
  // The first layer reads the model's input, the last is wider, and an output.
  EXPECT_EQ(runs.starts(1, 2), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(runs.starts(0, 1), (std::vector<std::size_t>{0}));
  EXPECT_EQ(runs.starts(1, 3), (std::vector<std::size_t>{1}));
  EXPECT_EQ(runs.starts(3, 4), (std::vector<std::size_t>{3}));
}

TEST(RepeatedRuns, KeepTheFastestEpochForAllOfThem) {
  const Layers layers({64, 64, 64, 64, 96}, true);
  ASSERT_EQ(layers.choice.epochs(), 4);
  Placement placement(layers.space);
  RepeatedRuns runs(placement);
  Trial trial;
  trial.choice = layers.choice;
  // Layers 1 and 2 (from 0) are alike; the second of them stands better.
  const std::size_t second = placement.schedule()[2].index(), first = placement.schedule()[1].index();
  ++trial.choice.ops[second].place.at.row;
  trial.epochs = {10, 100, 20, 10};
  EpochPool pool(layers.choice.ops.size(), 1);
  pool.add(placement, runs, trial);
  const auto best = pool.best(placement);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->ops[first].place, trial.choice.ops[second].place);
  EXPECT_EQ(best->ops[second], trial.choice.ops[second]);
  // What an estimate says of an epoch counts for those that are alike, unless it says something of them as well.
  trial.epochs = {10, 100, 200, 10};
  pool.correct(placement, runs, trial);
  trial.choice = *best;
  trial.epochs = {10, 30, 30, 10};
  pool.add(placement, runs, trial);
  EXPECT_EQ(pool.best(placement)->ops[first].place, trial.choice.ops[second].place);
}

TEST(RepeatedRuns, AreRatedOnce) {
  // One layer, and as many alike behind each other; the first and the last have other neighbours.
  const Layers layers(std::vector<std::int64_t>(26, 64), true);
  Placement placement(layers.space);
  const Estimator estimator([](const Choice&) { return std::nullopt; });
  LinkModel links(placement);
  RepeatedRuns runs(placement);
  Trials trials(placement, estimator, links, runs, 1);
  const std::size_t before = trials.ops_left();
  const Trial trial = trials.rated(layers.choice);
  ASSERT_EQ(trial.epochs.size(), 25u);
  EXPECT_EQ(trial.epochs[5], trial.epochs[20]);
  EXPECT_EQ(before - trials.ops_left(), 3u + 22u / 8) << "those that stand as others count for little";
  // One that stands elsewhere is rated by itself.
  Choice other = layers.choice;
  other.ops[placement.schedule()[7].index()].place.at = {3, 3};
  const std::size_t left = trials.ops_left();
  trials.rated(other);
  EXPECT_EQ(left - trials.ops_left(), 4u + 21u / 8);
}

TEST(Effort, NeverGivesLess) {
  for (const auto& sizes : {std::vector<std::int64_t>{64, 2048, 1024, 128, 64}, {512, 512, 512, 512, 512, 512, 512}}) {
    Spread policy;
    std::int64_t before = 0;
    for (std::int32_t effort = 0; effort <= 3; ++effort) {
      BalanceOptions options;
      options.batches = 16;
      options.effort = effort;
      auto balanced = balance_with(perceptron(8 * 32, sizes), "n150", options, policy);
      ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
      const std::int64_t cycles = balanced->report.totals.cycles;
      if (effort > 0) EXPECT_LE(cycles, before) << effort;
      before = cycles;
    }
  }
}

// Branches that are wide in the middle, one after the other by node id: an order that goes through them side by side passes the middle of
// all of them from epoch to epoch.
graph::Graph wide_branches(std::size_t count) {
  DeviceGraph g("branches");
  g.with_values = false;
  const graph::NodeId x = g.input("x", {1, 1, 512, 512}, {512, 512});
  std::optional<graph::NodeId> sum;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = [&](const char* op) { return cat(op, i); };
    const auto up = g.op(name("up"), "matmul", {x, g.parameter(name("up.weight"), {1, 1, 512, 4096})}, {1, 1, 512, 4096});
    const auto down = g.op(name("down"), "matmul", {up, g.parameter(name("down.weight"), {1, 1, 4096, 64})}, {1, 1, 512, 64});
    sum = sum ? g.op(name("sum"), "add", {*sum, down}, {1, 1, 512, 64}) : down;
  }
  g.output("y", *sum);
  return std::move(g.graph);
}

TEST(Effort, TriesBothOrders) {
  std::vector<std::int64_t> cycles;
  std::vector<SchedulePolicy> chosen;
  const auto plan = [&](std::optional<SchedulePolicy> schedule, std::int32_t effort) {
    Spread policy;
    BalanceOptions options;
    options.batches = 4;
    options.effort = effort;
    options.schedule = schedule;
    auto balanced = balance_with(wide_branches(6), "n150", options, policy);
    ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
    cycles.push_back(balanced->report.totals.cycles);
    chosen.push_back(balanced->schedule);
  };
  plan(SchedulePolicy::topological, 1);
  plan(SchedulePolicy::module_inputs_bfs, 1);
  plan(std::nullopt, 1);
  plan(std::nullopt, 2);
  EXPECT_LT(cycles[0], cycles[1]);
  EXPECT_EQ(cycles[2], cycles[1]) << "usually one order is tried";
  EXPECT_LE(cycles[3], cycles[0]);
  EXPECT_EQ(chosen[3], SchedulePolicy::topological);
}

}  // namespace
}  // namespace buda::balance
