// SPDX-License-Identifier: Apache-2.0
// Graphs without a chip.
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/reference/graph_run.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buda::runtime {
namespace {

class GraphRunTest : public testing::Test {
 protected:
  GraphRunTest() : host_(files_, sink_) {}
  io::MemoryFileSystem files_;
  CollectingSink sink_;
  Host host_;
};

TEST_F(GraphRunTest, BatchesAsAnImageDoes) {
  ops::Builder b("m");
  auto x = b.input("x", {2, 3});
  auto w = b.parameter("w", Tensor(Shape{3, 1}, std::vector<float>{1, 10, 100}));
  b.output("y", b.matmul(x, w));
  auto graph = b.finish();
  ASSERT_TRUE(graph) << graph.failure().diagnostics().front().message;
  auto one = run_graph(*graph, {{"x", Tensor(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})}}, host_);
  ASSERT_TRUE(one) << one.failure().diagnostics().front().message;
  EXPECT_EQ(one->outputs.at("y"), Tensor(Shape{2, 1}, std::vector<float>{321, 654}));
  EXPECT_EQ(one->batches.rows, 0);
  auto three = run_graph(*graph, {{"x", Tensor(Shape{3, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9})}}, host_);
  ASSERT_TRUE(three);
  EXPECT_EQ(three->outputs.at("y"), Tensor(Shape{3, 1}, std::vector<float>{321, 654, 987}));
  EXPECT_EQ(three->batches.count, 2);
  auto wrong = run_graph(*graph, {{"x", Tensor(Shape{2, 2}, std::vector<float>(4))}}, host_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().diagnostics().front().code, "RT021");
}

TEST_F(GraphRunTest, WhatNothingReadsIsNotLookedAt) {
  ops::Builder b("m");
  auto x = b.input("x", {1, 2});
  b.input("like", {3, 4});
  b.output("y", b.tanh(x));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  Tensor one(Shape{1, 2}, std::vector<float>{0, 0});
  for (const NamedTensors& inputs :
       {NamedTensors{{"x", one}}, NamedTensors{{"x", one}, {"like", Tensor(Shape{1}, std::vector<float>{7})}}}) {
    auto out = run_graph(*graph, inputs, host_);
    ASSERT_TRUE(out) << out.failure().diagnostics().front().message;
    EXPECT_EQ(out->outputs.at("y"), one);
  }
  EXPECT_FALSE(run_graph(*graph, {{"x", one}, {"liek", one}}, host_));
}

TEST_F(GraphRunTest, AnotherValueThanTheFixedOneIsRefused) {
  ops::Builder b("m");
  auto x = b.input("x", {1, 2});
  b.input("rows", {1, 2}, DType::i64);
  b.output("y", b.tanh(x));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  const Tensor fixed(Shape{1, 2}, std::vector<std::int64_t>{7, -1}), one(Shape{1, 2}, std::vector<float>{0, 0});
  graph->node(graph->find("rows")).tags[graph::kFixedValue] = graph::fixed_value_text(fixed);
  auto failure = [&](const NamedTensors& inputs) {
    auto out = run_graph(*graph, inputs, host_);
    return out ? std::string() : cat(out.failure().diagnostics().front().code, ' ', out.failure().diagnostics().front().message);
  };
  EXPECT_EQ(failure({{"x", one}}), "");
  EXPECT_EQ(failure({{"x", one}, {"rows", fixed}}), "");
  EXPECT_EQ(failure({{"x", one}, {"rows", fixed.cast(DType::i32)}}), "");
  EXPECT_EQ(
      failure({{"x", one}, {"rows", Tensor(Shape{1, 2}, std::vector<std::int64_t>{7, 1})}}),
      "RT025 input 'rows' was fixed by --value when the model was imported (I64 [1, 2], [7, -1]), and another value is given ([7, 1])");
  EXPECT_THAT(failure({{"x", one}, {"rows", Tensor(Shape{2}, std::vector<std::int64_t>{7, -1})}}), testing::StartsWith("RT025"));
  EXPECT_THAT(failure({{"x", one}, {"rows", one}}), testing::StartsWith("RT022"));
  // Of several batches each has it.
  const Tensor two(Shape{2, 2}, std::vector<float>{0, 0, 0, 0});
  EXPECT_EQ(failure({{"x", two}, {"rows", Tensor(Shape{2, 2}, std::vector<std::int64_t>{7, -1, 7, -1})}}), "");
  EXPECT_THAT(failure({{"x", two}, {"rows", Tensor(Shape{2, 2}, std::vector<std::int64_t>{7, -1, 7, 0})}}), testing::StartsWith("RT025"));
}

TEST_F(GraphRunTest, ElementsOutsideOfThePromisedRangeAreRefused) {
  // The message for these elements of an input "n" of this type and range; empty where they are accepted.
  auto message = [&](DType type, const char* range, const Tensor& given) {
    ops::Builder b("m");
    b.output("y", b.input("n", given.shape(), type));
    auto graph = b.finish();
    EXPECT_TRUE(graph);
    graph->node(graph->find("n")).tags[graph::kValueRange] = range;
    auto out = run_graph(*graph, {{"n", given}}, host_);
    if (out) return std::string();
    const Diagnostic& d = out.failure().diagnostics().front();
    return cat(d.code, ' ', d.message, "; ", d.hint);
  };
  auto whole = [](std::vector<std::int64_t> v) { return Tensor(Shape{2, 2}, std::move(v)); };
  EXPECT_EQ(message(DType::i64, "-3:7", whole({-3, 7, 0, 1})), "");
  EXPECT_EQ(
      message(DType::i64, "-3:7", whole({-3, 7, 8, -9})),
      "RT026 input 'n' has the element 8 at [1, 0]; the model was compiled for elements from -3 to 7 (--value-range); if such elements "
      "are right, compile the model with --value-range n=-9:8");
  // Of the type of a file, too, whatever the model's is.
  EXPECT_EQ(message(DType::i32, "0:7", whole({0, 7, 0, 1})), "");
  EXPECT_THAT(message(DType::i32, "0:7", whole({0, 7, 0, 1LL << 40})),
              testing::StartsWith("RT026 input 'n' has the element 1099511627776"));
  EXPECT_THAT(message(DType::u8, "1:7", Tensor(Shape{3}, std::vector<std::uint8_t>{1, 7, 0})), testing::HasSubstr("the element 0 at [2];"));
  EXPECT_THAT(message(DType::i64, "0:7", Tensor::scalar(std::int64_t{8})), testing::StartsWith("RT026 input 'n' is 8; the model"));
  EXPECT_EQ(message(DType::i64, "0:7", Tensor(Shape{0, 2}, std::vector<std::int64_t>{})), "");
  // The largest bound stands for all beyond it.
  constexpr std::uint64_t kLargest = ~std::uint64_t{0};
  EXPECT_EQ(message(DType::u64, "0:9223372036854775807", Tensor::scalar(kLargest)), "");
  EXPECT_THAT(message(DType::u64, "0:7", Tensor::scalar(kLargest)), testing::EndsWith("--value-range n=0:9223372036854775807"));
  // Of floating-point numbers, which have to be numbers.
  auto real = [](std::vector<float> v) { return Tensor(Shape{2}, std::move(v)); };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(message(DType::f32, "-1:1", real({-1, 1e-40f})), "");
  EXPECT_EQ(message(DType::f32, "-9223372036854775808:9223372036854775807", real({-1e30f, 1e30f})), "");
  EXPECT_EQ(
      message(DType::f32, "-1:1", real({-0.5f, 1.5f})),
      "RT026 input 'n' has the element 1.5 at [1]; the model was compiled for elements from -1 to 1 (--value-range); if such elements are "
      "right, compile the model with --value-range n=-1:2");
  EXPECT_THAT(message(DType::f16, "-1:1", real({0, -1.25f}).cast(DType::f16)), testing::EndsWith("--value-range n=-2:1"));
  for (const char* range : {"-1:1", "-9223372036854775808:9223372036854775807"})
    for (float special : {std::nanf(""), infinity, -infinity})
      EXPECT_THAT(message(DType::f32, range, real({0, special})),
                  testing::AllOf(testing::StartsWith("RT026"), testing::EndsWith("compile the model without a --value-range of 'n'")));
  EXPECT_THAT(message(DType::i64, "7", whole({0, 0, 0, 0})), testing::HasSubstr("has the value_range '7', which is not LEAST:MOST"));
}

TEST_F(GraphRunTest, StateGoesFromStepToStep) {
  ops::Builder b("m");
  auto x = b.input("x", {1, 2});
  auto s = b.input("s", {1, 2});
  b.output("t", b.add(s, x));
  b.output("y", b.multiply(s, x));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  graph->node(graph->find("s")).tags[graph::kLoopback] = "t";
  Tensor steps(Shape{3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}), first(Shape{1, 2}, std::vector<float>{10, 20});
  auto out = run_graph(*graph, {{"x", steps}, {"s", first}}, host_);
  ASSERT_TRUE(out) << out.failure().diagnostics().front().message;
  EXPECT_EQ(out->outputs.at("y"), Tensor(Shape{3, 2}, std::vector<float>{10, 40, 33, 88, 70, 156}));
  EXPECT_EQ(out->outputs.at("t"), Tensor(Shape{1, 2}, std::vector<float>{19, 32}));
  // From zero.
  out = run_graph(*graph, {{"x", steps}}, host_);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->outputs.at("t"), Tensor(Shape{1, 2}, std::vector<float>{9, 12}));
  auto wrong = run_graph(*graph, {{"x", steps}, {"s", steps}}, host_);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.failure().diagnostics().front().message.find("given for the first step alone"), std::string::npos);
}

TEST_F(GraphRunTest, EmulatedBfloat16RoundsWhatEachOpTakesAndMakes) {
  ops::Builder b("m");
  auto x = b.input("x", {1, 3});
  auto i = b.input("i", {1, 1}, DType::i64);
  auto w = b.parameter("w", Tensor(Shape{3, 1}, std::vector<float>{1, 1, 1.003F}));
  b.output("sum", b.matmul(x, w));
  b.output("scaled", b.multiply(x, x));
  b.output("next", b.add(i, i));
  auto graph = b.finish();
  ASSERT_TRUE(graph) << graph.failure().diagnostics().front().message;
  NamedTensors in{{"x", Tensor(Shape{1, 3}, std::vector<float>{256, 1.001F, 1})},
                  {"i", Tensor(Shape{1, 1}, std::vector<std::int64_t>{100001})}};
  auto out = run_graph(*graph, in, host_, Arithmetic::bfloat16);
  ASSERT_TRUE(out) << out.failure().diagnostics().front().message;
  // 256 + 1 + 1 in fp32, of which bfloat16 holds 258; a sum in bfloat16 would stay at 256.
  EXPECT_EQ(out->outputs.at("sum"), Tensor(Shape{1, 1}, std::vector<float>{258}));
  EXPECT_EQ(out->outputs.at("scaled"), Tensor(Shape{1, 3}, std::vector<float>{65536, 1, 1}));
  EXPECT_EQ(out->outputs.at("next"), Tensor(Shape{1, 1}, std::vector<std::int64_t>{200002}));
  EXPECT_EQ(out->outputs.at("sum").dtype(), DType::f32);

  // Ties go to the even neighbour: 257 lies between 256 and 258, 259 between 258 and 260. 260 * 260 = 67600 lies between 67584 and 68096.
  in.at("x") = Tensor(Shape{1, 3}, std::vector<float>{257, 259, 260});
  out = run_graph(*graph, in, host_, Arithmetic::bfloat16);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->outputs.at("scaled"), Tensor(Shape{1, 3}, std::vector<float>{65536, 67584, 67584}));
}

TEST_F(GraphRunTest, EmulatedBfloat16IsOfTensorLevel) {
  ops::Builder b("d", graph::Level::device);
  b.output("y", b.op("nop", {b.input("x", {2, 3})}));
  auto device = b.finish();
  ASSERT_TRUE(device);
  auto out = run_graph(*device, {}, host_, Arithmetic::bfloat16);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.failure().diagnostics().front().code, "OP062");
}

}  // namespace
}  // namespace buda::runtime
