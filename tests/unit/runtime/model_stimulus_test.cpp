// SPDX-License-Identifier: Apache-2.0
// Random inputs of a graph: types, ranges, rows, seeds.
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/model/model_stimulus.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace buda::runtime {
namespace {

// Rows of a table by numbers, more numbers, truth values, an input with a promise, and integers of which nothing is known.
graph::Graph model() {
  ops::Builder b("m");
  auto ids = b.input("ids", {3, 40}, DType::i64);
  auto x = b.input("x", {3, 40});
  auto mask = b.input("mask", {3, 40}, DType::boolean);
  auto level = b.input("level", {3, 40}, DType::i32);
  auto flags = b.input("flags", {3, 40}, DType::u8);
  auto table = b.parameter("table", Tensor(Shape{5}, std::vector<float>{1, 2, 3, 4, 5}));
  auto rows = b.op("gather", {table, ids});
  auto sum = b.add(rows, b.op("where", {mask, x, b.op("cast", {level}, {{"dtype", std::string("F32")}})}));
  b.output("y", b.add(sum, b.op("cast", {flags}, {{"dtype", std::string("F32")}})));
  auto graph = b.finish();
  EXPECT_TRUE(graph) << graph.failure().diagnostics().front().message;
  graph::Graph out = std::move(*graph);
  out.node(out.find("level")).tags[graph::kValueRange] = "-3:7";
  return out;
}

NamedTensors drawn(std::uint64_t seed, const NamedTensors& given = {}) {
  auto out = draw_inputs(model(), "m", given, seed);
  EXPECT_TRUE(out) << out.failure().diagnostics().front().message;
  return out ? std::move(*out) : NamedTensors();
}

template <class T>
std::set<std::int64_t> numbers(const Tensor& tensor) {
  std::set<std::int64_t> out;
  for (T v : tensor.as<T>()) out.insert(static_cast<std::int64_t>(v));
  return out;
}

using Numbers = std::set<std::int64_t>;

TEST(ModelStimulus, FitsTypesAndRanges) {
  const NamedTensors all = drawn(1);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(numbers<std::int64_t>(all.at("ids")), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(numbers<std::int32_t>(all.at("level")), (Numbers{-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers<std::uint8_t>(all.at("flags")), (Numbers{0, 1}));
  EXPECT_EQ(all.at("mask").dtype(), DType::boolean);
  const auto x = all.at("x").as<float>();
  EXPECT_TRUE(std::all_of(x.begin(), x.end(), [](float v) { return v >= -1 && v < 1; }));
  EXPECT_LT(*std::min_element(x.begin(), x.end()), -0.5f);
  EXPECT_GT(*std::max_element(x.begin(), x.end()), 0.5f);
}

TEST(ModelStimulus, FollowsTheSeed) {
  EXPECT_EQ(drawn(1).at("x"), drawn(1).at("x"));
  EXPECT_NE(drawn(1).at("x"), drawn(2).at("x"));
}

TEST(ModelStimulus, HasTheRowsOfWhatIsGiven) {
  const NamedTensors more = drawn(1, {{"x", Tensor(Shape{7, 40}, std::vector<float>(280))}});
  EXPECT_FALSE(more.contains("x"));
  EXPECT_EQ(more.at("ids").shape(), (Shape{7, 40}));
  // The first rows are those of a run with fewer.
  const NamedTensors few = drawn(1);
  const auto all = more.at("ids").as<std::int64_t>(), first = few.at("ids").as<std::int64_t>();
  EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
}

}  // namespace
}  // namespace buda::runtime
