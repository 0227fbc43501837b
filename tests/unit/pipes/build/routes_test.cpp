// SPDX-License-Identifier: Apache-2.0
// Ways over the networks.
#include <buda/pipes/noc/routes.hpp>

#include <gtest/gtest.h>

namespace buda::pipes {
namespace {

using device::NocCoord;

TEST(Routes, NetworksGoOppositeWaysRoundTheTorus) {
  std::set<NocLink> right_then_down, up_then_left;
  add_route(0, {8, 1}, {1, 2}, {10, 12}, right_then_down);
  add_route(1, {8, 1}, {1, 2}, {10, 12}, up_then_left);
  EXPECT_EQ(right_then_down, (std::set<NocLink>{{{8, 1}, {9, 1}}, {{9, 1}, {0, 1}}, {{0, 1}, {1, 1}}, {{1, 1}, {1, 2}}}));
  EXPECT_EQ(up_then_left.size(), 11u + 7u);
  EXPECT_TRUE(up_then_left.contains({{8, 1}, {8, 0}}));
  EXPECT_TRUE(up_then_left.contains({{2, 2}, {1, 2}}));
}

TEST(Routes, ATreeHasEachLinkOnce) {
  std::set<NocLink> tree;
  add_route(0, {1, 1}, {2, 1}, {10, 12}, tree);
  add_route(0, {1, 1}, {3, 1}, {10, 12}, tree);
  EXPECT_EQ(tree.size(), 2u);
  add_route(0, {1, 1}, {1, 1}, {10, 12}, tree);
  EXPECT_EQ(tree.size(), 2u) << "no way to itself";
}

}  // namespace
}  // namespace buda::pipes
