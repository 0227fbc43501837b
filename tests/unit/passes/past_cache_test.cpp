// SPDX-License-Identifier: Apache-2.0
// Outputs that are inputs of the next step: which belong together, and what tying them does.
#include "harness.hpp"

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/queues/past_cache.hpp>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::NodeId;

std::string found_in(const Graph& g) {
  std::string out;
  for (const graph::Loopback& l : find_past_caches(g)) out += g.node(l.input).name() + ">" + g.node(l.output).name() + " ";
  return out;
}

// Two caches as attention has them: what is new is computed from x, and joined to the cache under reshapes and transposes.
Graph attention() {
  ops::Builder b("attention");
  auto x = b.input("x", {2, 1, 8});
  auto keys = b.input("keys", {2, 5, 8});
  auto values = b.input("values", {2, 8, 5});
  auto all_keys = b.concatenate({keys, b.tanh(x)}, 1);
  auto all_values = b.concatenate({b.transpose(values, {0, 2, 1}), b.relu(x)}, 1);
  b.output("y", b.matmul(b.softmax(b.matmul(x, b.transpose(all_keys, {0, 2, 1})), -1), all_values));
  b.output("k", all_keys);
  b.output("v", b.transpose(all_values, {0, 2, 1}));
  return *b.finish();
}

TEST(PastCache, IsFoundByTheWayOfTheData) { EXPECT_EQ(found_in(attention()), "keys>k values>v "); }

TEST(PastCache, OfTwoInputsOrOutputsNeitherIsTaken) {
  ops::Builder b("both");
  auto x = b.input("x", {1, 4});
  auto y = b.input("y", {2, 4});
  b.output("joined", b.concatenate({x, y}, 0));
  auto z = b.input("z", {1, 4});
  b.output("first", b.concatenate({z, b.tanh(x)}, 0));
  b.output("second", b.concatenate({z, b.exp(x)}, 0));
  EXPECT_EQ(found_in(*b.finish()), "");
}

TEST(PastCache, ACopyIsNone) {
  ops::Builder b("copy");
  b.output("y", b.transpose(b.input("x", {4, 4}), {1, 0}));
  EXPECT_EQ(found_in(*b.finish()), "");
}

TEST(PastCache, IsFoundByNames) {
  ops::Builder b("names");
  auto x = b.input("x", {1, 4});
  auto one = b.add(b.input("past_key_values.0.key", {1, 4}), x);
  auto two = b.add(b.input("past_key_values.1.key", {1, 4}), x);
  b.output("present.1.key", one);
  b.output("present.0.key", two);
  b.output("present.2.key", b.tanh(x));
  EXPECT_EQ(found_in(*b.finish()), "past_key_values.0.key>present.0.key past_key_values.1.key>present.1.key ");
}

TEST(PastCache, ATiedOneIsNotFoundAgain) {
  Graph g = attention();
  ASSERT_TRUE(loop_back(g, g.find("values"), g.find_output("v")));
  EXPECT_EQ(found_in(g), "keys>k ");
}

TEST(PastCache, TheOldestEntriesLeaveIt) {
  Graph g = attention();
  auto cut = loop_back(g, g.find("keys"), g.find_output("k"));
  ASSERT_TRUE(cut);
  EXPECT_TRUE(*cut);
  const auto& window = g.node(g.node(g.find_output("k")).inputs()[0].source.node);
  EXPECT_EQ(window.name(), "k.window");
  EXPECT_EQ(window.op(), "slice");
  EXPECT_EQ(window.outputs[0].shape, (Shape{2, 5, 8}));
  EXPECT_EQ(window.attrs.at("starts"), graph::Attr(std::vector<std::int64_t>{1}));
  auto pairs = graph::loopbacks(g);
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 1u);
  EXPECT_EQ((*pairs)[0].input, g.find("keys"));
}

TEST(PastCache, WhatDoesNotFitIsRefused) {
  Graph g = attention();
  auto other = loop_back(g, g.find("keys"), g.find_output("v"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.failure().diagnostics()[0].code, "PA070");
  EXPECT_FALSE(g.node(g.find("keys")).tags.contains(graph::kLoopback));
  ASSERT_TRUE(loop_back(g, g.find("keys"), g.find_output("k")));
  auto again = loop_back(g, g.find("keys"), g.find_output("y"));
  ASSERT_FALSE(again);
  EXPECT_NE(again.failure().diagnostics()[0].message.find("'k' already"), std::string::npos);
}

}  // namespace
}  // namespace buda::passes
