// SPDX-License-Identifier: Apache-2.0
// Names in a flat table, against a map.
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace buda::graph {
namespace {

// Few names, so that most are taken and given back again and again; many at last, so that the table grows while it has holes.
TEST(NameIndex, IsAMapUnderRandomEdits) {
  Graph g("g");
  std::map<std::string, NodeId> expected;
  Rng rng(7);
  for (int step = 0; step < 20'000; ++step) {
    std::string name = "n" + std::to_string(rng.below(step < 10'000 ? 40 : 4'000));
    auto it = expected.find(name);
    EXPECT_EQ(g.find(name), it == expected.end() ? NodeId() : it->second);
    if (it == expected.end()) {
      expected[name] = g.add(name, "relu");
    } else if (std::string other = "n" + std::to_string(rng.below(4'000)); rng.below(3) == 0 && !expected.contains(other)) {
      ASSERT_TRUE(g.rename(it->second, other));
      expected[other] = it->second;
      expected.erase(name);
    } else {
      g.erase(it->second);
      expected.erase(it);
    }
  }
  EXPECT_EQ(g.size(), expected.size());
  for (const auto& [name, id] : expected) {
    EXPECT_EQ(g.find(name), id);
    EXPECT_EQ(g.node(id).name(), name);
  }
}

}  // namespace
}  // namespace buda::graph
