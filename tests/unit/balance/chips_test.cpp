// SPDX-License-Identifier: Apache-2.0
// Several chips: cuts against all cuts there are, netlists of two and three chips, and their bits against those of one chip.
#include <buda/balance/chips/chip_order.hpp>
#include <buda/balance/chips/chip_stages.hpp>

#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"
#include "unit/balance/random_graph.hpp"

#include <buda/base/rng.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace buda::balance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StagedEpochs some_epochs(Rng& rng, std::size_t count, std::int32_t chips) {
  StagedEpochs out;
  for (std::size_t e = 0; e < count; ++e) {
    const double interval = 10 + static_cast<double>(rng.below(90));
    out.times.push_back({interval + static_cast<double>(rng.below(200)), interval, static_cast<double>(1 + rng.below(16))});
  }
  out.segments.assign(count, 0);
  out.reads.resize(count);
  out.begins_chip.assign(count, false);
  for (std::int32_t chip = 0; chip < chips; ++chip) out.chips.push_back(chip);
  return out;
}

// Of the busiest chip, which is busy with the last epoch of the stage before, too.
double busiest(const StagedEpochs& epochs, const EpochChips& chips) {
  std::map<std::int32_t, double> busy;
  for (std::size_t e = 0; e < chips.size(); ++e) {
    const double cycles = epochs.times[e].first + (epochs.times[e].inputs - 1) * epochs.times[e].interval;
    busy[chips[e]] += cycles;
    if (e + 1 < chips.size() && chips[e + 1] != chips[e]) busy[chips[e + 1]] += cycles;
  }
  double most = 0;
  for (const auto& [chip, cycles] : busy) most = std::max(most, cycles);
  return most;
}

// The least of all cuts into as many stages as there are chips, or fewer.
double least_of_all(const StagedEpochs& epochs) {
  double least = std::numeric_limits<double>::infinity();
  EpochChips chips(epochs.times.size(), 0);
  std::function<void(std::size_t, std::size_t)> go = [&](std::size_t e, std::size_t stage) {
    if (e == chips.size()) {
      least = std::min(least, busiest(epochs, chips));
      return;
    }
    chips[e] = epochs.chips[stage];
    go(e + 1, stage);
    if (e == 0 || stage + 1 == epochs.chips.size()) return;
    chips[e] = epochs.chips[stage + 1];
    go(e + 1, stage + 1);
  };
  go(0, 0);
  return least;
}

TEST(ChipStages, AreTheBestOfAllCuts) {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const StagedEpochs epochs = some_epochs(rng, 1 + rng.below(8), 1 + static_cast<std::int32_t>(rng.below(4)));
    EXPECT_DOUBLE_EQ(busiest(epochs, best_stages(epochs)), least_of_all(epochs));
  }
}

// Two epochs on chip 1, then two on chip 0, the first of which reads what chip 1 has made.
StagedEpochs four_epochs() {
  StagedEpochs out;
  out.times = {{5, 2, 11}, {7, 3, 11}, {4, 1, 11}, {6, 6, 11}};
  out.reads = {{}, {0}, {1}, {2}};
  out.segments = {0, 0, 0, 0};
  out.begins_chip = {false, false, false, false};
  out.chips = {1, 0};
  return out;
}

TEST(ChipStages, EpochsKeepAllOfTheirChipsBusy) {
  StagedEpochs epochs = four_epochs();
  const EpochChips chips{1, 1, 0, 0};
  EXPECT_THAT(busy_cycles(epochs, chips), ElementsAre(std::pair(0, 14 + 66), std::pair(1, 25 + 37 + 14)));
  EXPECT_EQ(iteration_cycles(epochs, chips), 80);
  EXPECT_EQ(epochs_together(chips, epochs.segments, true), (std::vector<EpochSpan>{{0, 0}, {1, 2}, {3, 3}}));
  epochs.joins_neighbours = true;
  EXPECT_THAT(busy_cycles(epochs, chips), ElementsAre(std::pair(0, 41 + 66), std::pair(1, 25 + 41)));
  EXPECT_EQ(iteration_cycles(epochs, chips), 107);
}

// Chip 1 cannot begin the next iteration before the last epoch of this one has read from it.
TEST(ChipStages, ChipsWaitWhereALaterEpochReadsFromAnother) {
  StagedEpochs epochs = four_epochs();
  epochs.reads[3] = {0, 2};
  EXPECT_EQ(iteration_cycles(epochs, {1, 1, 0, 0}), 25 + 37 + 14 + 66);
  epochs = four_epochs();
  epochs.is_sequential = true;
  EXPECT_EQ(iteration_cycles(epochs, {1, 1, 0, 0}), 25 + 37 + 14 + 66);
}

TEST(ChipStages, BeginWhereTheUserWantsThem) {
  Rng rng(6);
  for (int round = 0; round < 50; ++round) {
    StagedEpochs epochs = some_epochs(rng, 8, 3);
    const std::size_t wanted = 1 + rng.below(7);
    epochs.begins_chip[wanted] = true;
    const EpochChips chips = best_stages(epochs);
    EXPECT_NE(chips[wanted], chips[wanted - 1]);
  }
}

TEST(ChipStages, OfAnotherSegmentBeginOnTheChipOfTheLastOne) {
  Rng rng(7);
  StagedEpochs epochs = some_epochs(rng, 12, 2);
  epochs.segments = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  const EpochChips chips = best_stages(epochs);
  EXPECT_EQ(chips[5], chips[6]);
  EXPECT_NE(chips[0], chips[5]);
  EXPECT_NE(chips[6], chips[11]);
}

TEST(ChipOrder, PutsThoseOfTheHostLast) {
  device::DeviceDescriptor device = board("n300");
  device.chips = 4;
  device.mmio_chips = {0, 2};
  const auto chips = [&](const ChipOptions& options) { return *chips_in_order(options, device); };
  EXPECT_THAT(chips({}), ElementsAre(0));
  EXPECT_THAT(chips({.count = 0}), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(chips({.count = 3}), ElementsAre(1, 0, 2));
  EXPECT_THAT(chips({.ids = {2, 1}}), ElementsAre(1, 2));
  EXPECT_THAT(chips({.count = 0, .order = ChipOrder::snake}), ElementsAre(0, 1, 2, 3));
}

TEST(ChipOrder, RefusesChipsThatTheDeviceHasNot) {
  const auto message = [](const ChipOptions& options) { return text_of(chips_in_order(options, board("n300")).failure()); };
  EXPECT_THAT(message({.count = 3}), HasSubstr("the model is to use 3 chips; n300 has 2 chips, 0 to 1"));
  EXPECT_THAT(message({.ids = {0, 2}}), HasSubstr("chip 2"));
  EXPECT_THAT(message({.ids = {1, 1}}), HasSubstr("chip 1 is named twice"));
}

BalanceOptions on_chips(std::int64_t count, std::int32_t batches = 4) {
  BalanceOptions options;
  options.chips.count = count;
  options.batches = batches;
  return options;
}

Result<Balanced> alone(graph::Graph graph, const std::string& device, const BalanceOptions& options) {
  OneOpPerEpoch policy;
  return balance_with(std::move(graph), device, options, policy);
}

TEST(SeveralChips, OnlyCopiesReadFromAnotherChip) {
  auto b = alone(perceptron(64, {64, 64, 64, 64, 64}), "n300", on_chips(2));
  ASSERT_TRUE(b.ok()) << text_of(b.failure());
  const netlist::Netlist& n = b->built.netlist;
  EXPECT_EQ(n.graphs.front().target_device, 1);
  EXPECT_EQ(n.graphs.back().target_device, 0);
  std::map<std::string, std::int32_t> chip_of_op;
  for (const auto& g : n.graphs)
    for (const auto& op : g.ops) chip_of_op[op.name] = g.target_device;
  std::size_t copies = 0;
  for (const OpSpec& op : b->problem.ops) copies += op.copies ? 1 : 0;
  EXPECT_EQ(copies, 1U);
  for (const QueuePlan& plan : b->built.queues.queues) {
    const netlist::Queue& q = plan.queue;
    if (plan.writer.valid()) EXPECT_EQ(chip_of_op.at(q.input), q.target_device) << q.name;
    for (const OpUse& use : plan.readers) {
      const OpSpec& reader = b->problem.op(use.op);
      EXPECT_EQ(chip_of_op.at(reader.op.name) == q.target_device, !reader.copies) << q.name;
    }
  }
  for (const auto& d : netlist::check_netlist(n, board("n300"), {netlist::CheckLevel::run}))
    EXPECT_NE(d.severity, Severity::error) << d.code << ' ' << d.message;
  ASSERT_EQ(b->report.totals.chips.size(), 2U);
  EXPECT_EQ(b->report.totals.chips[0].epochs + b->report.totals.chips[1].epochs, b->report.totals.epochs);
}

// What an op makes goes straight to the copy on the other chip, which runs together with it, and no queue lies between them.
TEST(SeveralChips, FeedEachOtherDirectly) {
  auto b = alone(perceptron(64, {64, 64, 64, 64, 64}), "n300", on_chips(2));
  ASSERT_TRUE(b.ok()) << text_of(b.failure());
  std::size_t direct = 0;
  for (std::size_t i = 0; i < b->problem.ops.size(); ++i) {
    const OpSpec& op = b->problem.ops[i];
    if (!op.copies) continue;
    const auto epoch = static_cast<std::size_t>(b->choice.ops[i].epoch);
    EXPECT_EQ(b->built.queues.feeds[i], std::vector<std::size_t>{kNoQueue}) << op.op.name;
    EXPECT_EQ(b->report.epochs[epoch].between_chips, "direct");
    const auto& placed = b->built.netlist.graphs[epoch].ops.front();
    EXPECT_EQ(placed.inputs.front().name, b->problem.op(op.operands.front().from.op).op.name);
    ++direct;
  }
  EXPECT_EQ(direct, 1U);
}

// What is read in one epoch is copied there, and so are inputs and what an earlier epoch has made for both chips.
TEST(SeveralChips, EachStageBeginsWithAllThatItTakes) {
  DeviceGraph g;
  const Shape shape{1, 1, 64, 64};
  const auto x = g.input("x", shape), mask = g.input("mask", shape);
  const auto a = g.op("a", "add", {x, mask}, shape);
  const auto b = g.op("b", "add", {a, mask}, shape), c = g.op("c", "add", {b, a}, shape);
  const auto d = g.op("d", "add", {c, mask}, shape);
  g.output("y", d);
  graph::add_constraint(g.graph.node(c), graph::kChipBreak, "c");
  auto placed = alone(std::move(g.graph), "n300", on_chips(2));
  ASSERT_TRUE(placed.ok()) << text_of(placed.failure());
  std::set<std::string> copied;
  for (const OpSpec& op : placed->problem.ops)
    if (op.copies) copied.insert(op.op.name);
  EXPECT_THAT(copied, ElementsAre("a.copy", "b.copy", "mask.copy"));
}

// Further chips would wait for each other.
TEST(SeveralChips, OfAModelWithStateOneIsUsed) {
  DeviceGraph g;
  const Shape shape{1, 1, 64, 64};
  const auto x = g.input("x", shape), s = g.input("s", shape);
  const auto t = g.op("t", "add", {x, s}, shape), u = g.op("u", "exp", {t}, shape);
  g.output("next", t);
  g.output("y", u);
  g.graph.node(s).tags[graph::kLoopback] = "next";
  auto placed = alone(std::move(g.graph), "n300", on_chips(2, 1));
  ASSERT_TRUE(placed.ok()) << text_of(placed.failure());
  for (const auto& graph : placed->built.netlist.graphs) EXPECT_EQ(graph.target_device, 0);
}

TEST(SeveralChips, BeginWhereTheGraphSaysSo) {
  graph::Graph graph = perceptron(64, {64, 64, 64, 64, 64});
  graph::add_constraint(graph.node(graph.find("fc2")), graph::kChipBreak, "fc2");
  auto b = balance_with(std::move(graph), "n300", on_chips(2));
  ASSERT_TRUE(b.ok()) << text_of(b.failure());
  std::map<std::string, std::int32_t> chip_of_op;
  for (const auto& g : b->built.netlist.graphs)
    for (const auto& op : g.ops) chip_of_op[op.name] = g.target_device;
  EXPECT_EQ(chip_of_op.at("fc1"), 1);
  EXPECT_EQ(chip_of_op.at("fc2"), 0);
  EXPECT_EQ(chip_of_op.at("fc4"), 0);
}

// Where arithmetic is exact. Stages begin anywhere.
TEST(SeveralChips, GiveTheBitsOfTheGraph) {
  std::size_t compared = 0, on_two = 0, direct = 0;
  const SeedRange seeds = seeds_wanted(16);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    const graph::Graph graph = random_graph(seed, RandomValues::integers);
    graph::Graph cut = graph;
    const std::string op = some_op(cut, seed / 2);
    graph::add_constraint(cut.node(cut.find(op)), graph::kChipBreak, op);
    auto b = alone(std::move(cut), "n300", on_chips(2, 1));
    if (!b.ok()) continue;
    for (const auto& d : netlist::check_netlist(b->built.netlist, board("n300"), {netlist::CheckLevel::run}))
      EXPECT_NE(d.severity, Severity::error) << d.code << ' ' << d.message;
    expect_same_bits(graph, *b, {integer_inputs(graph, seed), integer_inputs(graph, seed + 1), integer_inputs(graph, seed + 2)});
    ++compared;
    on_two += b->report.totals.chips.size() > 1 ? 1 : 0;
    direct +=
        std::any_of(b->report.epochs.begin(), b->report.epochs.end(), [](const ReportEpoch& e) { return e.between_chips == "direct"; }) ? 1
                                                                                                                                        : 0;
  }
  EXPECT_GE(compared, seeds.count * 3 / 4);
  EXPECT_GE(on_two, compared / 2);
  EXPECT_GE(direct, 1U);
}

// Ops on chips that the user gives them, others where the graph takes them; where arithmetic is exact.
TEST(GivenChips, GiveTheBitsOfTheGraph) {
  std::size_t compared = 0, on_two = 0;
  const SeedRange seeds = seeds_wanted(16);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    const graph::Graph graph = random_graph(seed, RandomValues::integers);
    graph::Graph tagged = graph;
    std::map<std::string, std::int32_t> given;
    for (std::uint64_t i = 0; i < 4; ++i) given[some_op(tagged, seed + i)] = static_cast<std::int32_t>(i % 2);
    BalanceOptions options = on_chips(1, 1);
    for (const auto& [op, chip] : given) {
      if (seed % 2 == 0) graph::add_constraint(tagged.node(tagged.find(op)), graph::kChip, cat(chip));
      if (seed % 2 != 0) options.overrides[op + ".chip"] = cat(chip);
    }
    auto b = seed % 3 == 0 ? balance_with(std::move(tagged), "n300", options) : alone(std::move(tagged), "n300", options);
    ASSERT_TRUE(b.ok()) << text_of(b.failure());
    for (std::size_t i = 0; i < b->problem.ops.size(); ++i)
      if (const auto wanted = given.find(b->problem.ops[i].node_name); wanted != given.end())
        EXPECT_EQ(b->built.netlist.graphs[static_cast<std::size_t>(b->choice.ops[i].epoch)].target_device, wanted->second) << wanted->first;
    for (const auto& d : netlist::check_netlist(b->built.netlist, board("n300"), {netlist::CheckLevel::run}))
      EXPECT_NE(d.severity, Severity::error) << d.code << ' ' << d.message;
    expect_same_bits(graph, *b, {integer_inputs(graph, seed), integer_inputs(graph, seed + 1), integer_inputs(graph, seed + 2)});
    ++compared;
    on_two += b->report.totals.chips.size() > 1 ? 1 : 0;
  }
  EXPECT_EQ(compared, seeds.count);
  EXPECT_GE(on_two, compared / 2);
}

// Parts of an op are computed in neighbouring epochs, neither of which reads from the other chip.
TEST(GivenChips, WorkBesideEachOther) {
  DeviceGraph g;
  const Shape shape{1, 1, 64, 64};
  const auto x = g.input("x", shape);
  std::vector<graph::Edge> parts;
  for (int part = 0; part < 2; ++part) {
    graph::NodeId value = x;
    for (int i = 0; i < 3; ++i) {
      value = g.op(cat("part", part, i), "exp", {value}, shape);
      graph::add_constraint(g.graph.node(value), graph::kChip, cat(part));
    }
    parts.emplace_back(value);
  }
  g.output("y", g.op("sum", "add", parts, shape));
  auto b = alone(std::move(g.graph), "n300", on_chips(1));
  ASSERT_TRUE(b.ok()) << text_of(b.failure());
  std::string order;
  for (const auto& graph : b->built.netlist.graphs)
    order += cat(order.empty() ? "" : " ", graph.ops.front().name, '@', graph.target_device);
  EXPECT_EQ(order, "part10@1 x.copy@0 part11@1 part00@0 part12@1 part01@0 part02@0 part02.copy@1 sum@1");
  std::int64_t alone = 0;
  for (const ReportEpoch& epoch : b->report.epochs) alone += epoch.cycles;
  EXPECT_LT(5 * b->report.totals.cycles, 4 * alone);
}

TEST(GivenChips, MustBeThere) {
  BalanceOptions options;
  options.overrides["fc1.chip"] = "2";
  auto b = alone(perceptron(64, {64, 64, 64}), "n300", options);
  ASSERT_FALSE(b.ok());
  EXPECT_THAT(text_of(b.failure()), HasSubstr("op 'fc1' is to run on chip 2; n300 has 2 chips, 0 to 1"));
}

}  // namespace
}  // namespace buda::balance
