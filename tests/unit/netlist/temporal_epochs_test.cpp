// SPDX-License-Identifier: Apache-2.0
// Graphs of a cluster that run together.
#include <buda/netlist/program/temporal_epochs.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using ::testing::ElementsAre;

// Graphs g0, g1, … on the given chips, executed in this order; edges from one graph's op to another's.
Netlist cluster(const std::vector<std::int32_t>& chips, const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  Netlist n;
  n.programs.emplace_back();
  for (std::size_t i = 0; i < chips.size(); ++i) {
    Graph g;
    g.name = "g" + std::to_string(i);
    g.target_device = chips[i];
    Op op;
    op.name = "op" + std::to_string(i);
    g.ops.push_back(op);
    n.graphs.push_back(g);
    n.programs[0].instructions.push_back({instruction::Execute{g.name, {}}, {}});
  }
  for (auto [from, to] : edges) {
    OpInput input;
    input.name = "op" + std::to_string(from);
    n.graphs[to].ops[0].inputs.push_back(input);
  }
  return n;
}

std::vector<std::vector<std::size_t>> groups(const Netlist& n, bool merge) {
  auto epochs = temporal_epochs(n, merge);
  EXPECT_TRUE(epochs.ok());
  std::vector<std::vector<std::size_t>> out;
  if (epochs.ok())
    for (const auto& e : *epochs) out.push_back(e.graphs);
  return out;
}

TEST(TemporalEpochs, OneGraphAfterTheOtherOnOneChip) {
  EXPECT_THAT(groups(cluster({0, 0, 0}, {}), true), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(TemporalEpochs, FreeChipsJoin) {
  Netlist n = cluster({0, 1, 0, 1, 2}, {});
  EXPECT_THAT(groups(n, true), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 4)));
  EXPECT_THAT(groups(n, false), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(4)));
}

TEST(TemporalEpochs, ConnectedGraphsStayTogether) {
  // g0 on chip 0 feeds g3 on chip 1: they are together, where g3 stands, and g1 and g2 cannot join them.
  Netlist n = cluster({0, 0, 1, 1}, {{0, 3}});
  EXPECT_THAT(groups(n, true), ElementsAre(ElementsAre(1, 2), ElementsAre(0, 3)));
  EXPECT_THAT(groups(n, false), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(0, 3)));
  // Taken before it is met, a graph comes to the one that takes from it.
  EXPECT_THAT(groups(cluster({0, 0, 1, 1}, {{3, 0}}), false), ElementsAre(ElementsAre(0, 3), ElementsAre(1), ElementsAre(2)));
  // Through a third one.
  EXPECT_THAT(groups(cluster({0, 1, 2}, {{0, 1}, {1, 2}}), false), ElementsAre(ElementsAre(0, 1, 2)));
}

// TT-Buda counts epochs as graphs stand in the file.
TEST(TemporalEpochs, AreNumberedInTheOrderOfTheFile) {
  Netlist n = cluster({0, 0, 0}, {});
  std::swap(n.programs[0].instructions[0], n.programs[0].instructions[2]);
  EXPECT_THAT(groups(n, true), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

// Neighbours are those of the program: g2 follows on g0 there.
TEST(TemporalEpochs, JoinWhatIsExecutedBefore) {
  Netlist n = cluster({0, 0, 1}, {});
  auto& run = n.programs[0].instructions;
  run.insert(run.begin() + 2, run[0]);
  EXPECT_THAT(groups(n, true), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(TemporalEpochs, GraphsThatNobodyExecutesAreInNone) {
  Netlist n = cluster({0, 1}, {});
  n.programs[0].instructions.pop_back();
  EXPECT_THAT(groups(n, true), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace buda::netlist
