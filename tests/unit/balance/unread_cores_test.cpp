// SPDX-License-Identifier: Apache-2.0
// Ops of whose result a part is left out stand on cores all of which are read.
#include "unit/balance/fixture.hpp"

namespace buda::balance {
namespace {

// The first of eight rows of tiles goes on.
DeviceGraph first_row() {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 256, 256});
  auto a = g.op("a", "exp", {x}, {1, 1, 256, 256});
  g.output("y", g.op("b", "exp", {graph::Edge(a, {graph::Tm::unpad(7, 0)})}, {1, 1, 32, 256}));
  return g;
}

GridShape grid_of_first(const BalanceOptions& options) {
  auto result = balance_with(first_row().graph, "n150", options, true);
  EXPECT_TRUE(result.ok()) << text_of(result.failure());
  return result.ok() ? result->choice.ops[0].model.grid : GridShape{};
}

TEST(UnreadCores, AreAvoided) { EXPECT_EQ(grid_of_first({}), (GridShape{1, 8})); }

TEST(UnreadCores, AreTakenWhereTheUserWantsThem) {
  BalanceOptions options;
  options.overrides["a.grid"] = "[8,8]";
  options.overrides["b.epoch-break"] = "true";
  EXPECT_EQ(grid_of_first(options), (GridShape{8, 8}));
}

}  // namespace
}  // namespace buda::balance
