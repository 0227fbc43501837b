// SPDX-License-Identifier: Apache-2.0
// layout-states: the update of a weight in the order in which the model reads it, on the device, too.
#include "values.hpp"

#include <buda/autograd/training_step.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <cmath>

namespace buda::passes {
namespace {

// As a convolution takes its kernels: a matrix for each tap.
Graph step_of_taps(const Shape& kernels, const std::string& optimizer, autograd::StepForm form) {
  const std::int64_t taps = kernels[2] * kernels[3], inputs = kernels[1], outputs = kernels[0];
  Builder b("net");
  auto x = b.input("x", {taps, 5, inputs});
  auto w = b.parameter("w", varied(kernels));
  auto flat = b.reshape(w, {outputs, inputs, taps});
  auto matrices = b.transpose(flat, {2, 1, 0});
  auto products = b.matmul(x, matrices);
  b.output("y", b.reduce_sum(products, {0}, false));
  autograd::StepOptions options;
  options.loss = *autograd::parse_loss("mse");
  options.optimizer = *autograd::parse_optimizer(optimizer);
  options.form = form;
  auto step = autograd::training_step(finished(b), options);
  EXPECT_TRUE(step.ok());
  return std::move(step->graph);
}

// Means of squares are not negative.
NamedTensors positive_inputs(const Graph& graph) {
  NamedTensors out = *random_inputs(graph, 1);
  for (auto& [name, tensor] : out) {
    std::vector<float> elements = tensor.to_f32();
    for (float& x : elements) x = std::abs(x) + 0.125F;
    tensor = Tensor(tensor.shape(), std::move(elements));
  }
  return out;
}

void expect_order(const std::string& optimizer, const Shape& kernels, autograd::StepForm form, std::size_t states) {
  SCOPED_TRACE(optimizer);
  Bench bench;
  Graph graph = step_of_taps(kernels, optimizer, form);
  expect_equivalence(graph, bench, {&kLayoutStates, &kAlgebraicSimplification, &kSinkMovement, &kDeadCodeElimination},
                     positive_inputs(graph));
  const Shape taps{kernels[2] * kernels[3], kernels[1], kernels[0]};
  for (NodeId id : graph.ids()) {
    const auto phase = graph.node(id).tags.find(graph::kPhase);
    if (phase == graph.node(id).tags.end() || phase->second != graph::kPhaseOptimizer || is_rearrangement(graph.node(id))) continue;
    if (graph.node(id).outputs[0].shape.volume() == kernels.volume())
      EXPECT_EQ(graph.node(id).outputs[0].shape, taps) << graph.node(id).name();
  }
  expect_equivalence(graph, bench, {&kLowerToDevice}, positive_inputs(graph));
  std::size_t turned = 0;
  for (NodeId id : graph.inputs()) {
    const auto& node = graph.node(id);
    if (node.name() != "w" && !node.name().starts_with("w.")) continue;
    EXPECT_TRUE(node.attrs.contains(ops::kViewOrder)) << node.name();
    EXPECT_EQ(node.outputs[0].shape, (Shape{1, taps[0], 32, 32})) << node.name();
    ++turned;
  }
  EXPECT_EQ(turned, states);
  for (NodeId id : graph.ids()) EXPECT_FALSE(graph.node(id).attrs.contains("identity")) << "rows are picked for " << graph.node(id).name();
}

TEST(LayoutStates, UpdatesFollowTheTaps) {
  using autograd::StepForm;
  for (StepForm form : {StepForm::step, StepForm::programs}) {
    expect_order("sgd:lr=0.1", {16, 8, 3, 3}, form, 2);
    expect_order("sgd:lr=0.1,momentum=0.9", {7, 5, 3, 3}, form, 4);
    expect_order("adam:lr=0.1", {3, 11, 2, 3}, form, 6);
  }
}

// A kernel of one tap is a matrix, which both directions of the step multiply by, one of them turned.
Graph step_of_one_tap(const Shape& kernels, const std::string& optimizer) {
  Builder b("net");
  const auto through = [&](graph::ValueRef x, graph::ValueRef w, std::int64_t from, std::int64_t to) {
    auto flat = b.reshape(w, {to, from, 1});
    return b.matmul(x, b.reshape(b.transpose(flat, {2, 1, 0}), {from, to}));
  };
  const std::int64_t inputs = kernels[1], outputs = kernels[0];
  auto first = b.parameter("v", varied({inputs, 3, 1, 1}));
  auto w = b.parameter("w", varied(kernels));
  b.output("y", through(through(b.input("x", {5, 3}), first, 3, inputs), w, inputs, outputs));
  autograd::StepOptions options;
  options.loss = *autograd::parse_loss("mse");
  options.optimizer = *autograd::parse_optimizer(optimizer);
  auto step = autograd::training_step(finished(b), options);
  EXPECT_TRUE(step.ok());
  return std::move(step->graph);
}

TEST(LayoutStates, KernelsOfOneTapAreMatrices) {
  for (const std::string optimizer : {"sgd:lr=0.1", "sgd:lr=0.1,momentum=0.9", "adam:lr=0.1"})
    for (const auto& [outputs, inputs] : {std::pair(16, 8), {33, 7}, {5, 65}}) {
      SCOPED_TRACE(cat(optimizer, " ", outputs, " x ", inputs));
      Bench bench;
      Graph graph = step_of_one_tap({outputs, inputs, 1, 1}, optimizer);
      expect_equivalence(graph, bench, {&kLayoutStates, &kAlgebraicSimplification, &kSinkMovement, &kDeadCodeElimination},
                         positive_inputs(graph));
      expect_equivalence(graph, bench, {&kLowerToDevice}, positive_inputs(graph));
      for (NodeId id : graph.inputs()) {
        const auto& node = graph.node(id);
        if (node.name() == "w" || node.name().starts_with("w.")) EXPECT_EQ(node.outputs[0].shape[1], 1) << node.name();
      }
    }
}

// Norms read all of the parameter, in whatever order.
TEST(LayoutStates, NormsStay) {
  Bench bench;
  Graph graph = step_of_taps({16, 8, 3, 3}, "lamb:lr=0.1", autograd::StepForm::step);
  expect_equivalence(graph, bench, {&kLayoutStates, &kAlgebraicSimplification, &kSinkMovement, &kDeadCodeElimination},
                     positive_inputs(graph));
}

// A matrix takes no more tiles as it is.
TEST(LayoutStates, MatricesStay) {
  Bench bench;
  Builder b("net");
  auto w = b.parameter("w", varied({10, 64}));
  b.output("y", b.matmul(b.input("x", {4, 64}), b.transpose(w, {1, 0})));
  autograd::StepOptions options;
  options.loss = *autograd::parse_loss("mse");
  auto step = autograd::training_step(finished(b), options);
  ASSERT_TRUE(step.ok());
  EXPECT_FALSE(bench.run(kLayoutStates, step->graph).changed());
}

}  // namespace
}  // namespace buda::passes
