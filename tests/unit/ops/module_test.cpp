// SPDX-License-Identifier: Apache-2.0
// Models written in C++.
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/module.hpp>

#include <gmock/gmock.h>

namespace buda::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor ramp_of(Shape shape, float first) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = first + static_cast<float>(i);
  return Tensor(std::move(shape), std::move(v));
}

// scale * x + shift
class Affine final : public Module {
 public:
  explicit Affine(std::string name, float scale) : Module(std::move(name)) {
    add_parameter("scale", ramp_of({1}, scale), true);
    add_constant("shift", ramp_of({1}, 1), true);
  }
  Refs forward(Builder& b, const Refs& x) override { return {b.add(b.multiply(x[0], parameter(b, asks_for)), constant(b, "shift"))}; }
  std::string asks_for = "scale";
};

// Twice the first, then the second, on inputs without their sign.
class Net final : public Module {
 public:
  Net() : Module("net") {
    add_module(first);
    add_module(second);
  }
  Refs pre_forward(Builder& b, Refs x) override { return {b.abs(x[0])}; }
  Refs forward(Builder& b, const Refs& x) override { return second(b, first(b, first(b, x))); }
  Affine first{"first", 2}, second{"second", 10};
};

template <class T>
std::string refusal(const Result<T>& r) {
  std::string out;
  if (!r)
    for (const auto& d : r.failure().diagnostics()) out += d.code + ": " + d.message + "\n";
  return out;
}

std::vector<float> values_of(Module& module, std::vector<float> x) {
  auto graph = module.graph({{"x", {DType::f32, {2}, std::nullopt}}});
  EXPECT_TRUE(graph) << refusal(graph);
  if (!graph) return {};
  auto outputs = evaluate_graph(*graph, {{"x", Tensor(Shape{2}, std::move(x))}});
  EXPECT_TRUE(outputs) << refusal(outputs);
  return outputs ? outputs->at(module.name() + ".0").to_f32() : std::vector<float>();
}

TEST(Module, SubmodulesAreComputedWithTheirParameters) {
  Net net;
  EXPECT_THAT(values_of(net, {1, -2}), ElementsAre(10 * (2 * (2 * 1 + 1) + 1) + 1, 10 * (2 * (2 * 2 + 1) + 1) + 1));
  // A parameter that is used twice is there once.
  auto graph = net.graph({{"x", {DType::f32, {2}, std::nullopt}}});
  ASSERT_TRUE(graph);
  EXPECT_TRUE(graph->find("first.scale").valid());
  EXPECT_EQ(graph->use_count(graph->find("first.scale")), 2U);
}

TEST(Module, ParametersAreReadAndSet) {
  Net net;
  EXPECT_EQ(net.get_parameters().size(), 2U);
  EXPECT_TRUE(net.get_parameters(false).empty());
  EXPECT_EQ(net.get_parameter("second.scale")->to_f32(), std::vector<float>{10});
  ASSERT_TRUE(net.set_parameter("second.scale", ramp_of({1}, 100)));
  ASSERT_TRUE(net.set_constant("second.shift", ramp_of({1}, 7)));
  EXPECT_EQ(net.get_constant("second.shift")->to_f32(), std::vector<float>{7});
  EXPECT_THAT(values_of(net, {0, 0}), ElementsAre(307, 307));
  ASSERT_TRUE(net.load_parameters({{"first.scale", ramp_of({1}, 0)}, {"second.scale", ramp_of({1}, 1)}}));
  EXPECT_THAT(values_of(net, {0, 0}), ElementsAre(8, 8));
}

TEST(Module, WhatIsNotThereIsTold) {
  Net net;
  EXPECT_THAT(refusal(net.get_parameter("first.scal")),
              HasSubstr("MD001: module 'net' has no parameter 'first.scal'; it has first.scale, second.scale"));
  EXPECT_THAT(refusal(net.set_constant("shift", ramp_of({1}, 0))), HasSubstr("MD001: module 'net' has no constant 'shift'"));
  EXPECT_THAT(refusal(net.set_parameter("first.scale", ramp_of({2}, 0))),
              HasSubstr("MD002: parameter 'first.scale' is F32 [1] and is set to F32 [2]"));
  // Nothing is set where one of them is an error.
  EXPECT_THAT(refusal(net.load_parameters({{"first.scale", ramp_of({1}, 5)}, {"third.scale", ramp_of({1}, 5)}})), HasSubstr("MD001"));
  EXPECT_EQ(net.get_parameter("first.scale")->to_f32(), std::vector<float>{2});
  net.first.asks_for = "slope";
  EXPECT_THAT(refusal(net.graph({{"x", {DType::f32, {2}, std::nullopt}}})), HasSubstr("MD001: module 'first' has no parameter 'slope'"));
}

}  // namespace
}  // namespace buda::ops
