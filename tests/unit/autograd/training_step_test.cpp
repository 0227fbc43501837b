// SPDX-License-Identifier: Apache-2.0
// Whole steps next to PyTorch 1.13, schedules, and what is refused.
#include <buda/autograd/schedule.hpp>
#include <buda/autograd/training_step.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace buda::autograd {
namespace {

using graph::Graph;

Tensor f32(Shape shape, std::vector<float> elements) { return Tensor(std::move(shape), std::move(elements)); }

Graph linear(std::vector<float> weights, std::int64_t outputs, bool biased) {
  ops::Builder b("net");
  auto x = b.input("x", {3, 2});
  auto w = b.parameter("w", f32({outputs, 2}, std::move(weights)));
  auto turned = b.named("turned").transpose(w, {1, 0});
  auto y = b.named("product").matmul(x, turned);
  if (biased) {
    auto bias = b.parameter("b", f32({1}, {0.1F}));
    y = b.named("biased").add(y, bias);
  }
  b.output("y", y);
  auto graph = b.finish();
  EXPECT_TRUE(graph);
  return *graph;
}

// Losses of steps, and then the parameters: pairs added up.
std::vector<double> trained(Graph model, const StepOptions& options, const Tensor& target, int steps) {
  auto step = training_step(std::move(model), options);
  EXPECT_TRUE(step) << (step ? "" : step.failure().diagnostics().front().message);
  if (!step) return {};
  const Graph& graph = step->graph;
  NamedTensors inputs{{"x", f32({3, 2}, {1, 2, 3, -1, 0.5F, 0.25F})}, {"target", target}};
  for (graph::NodeId id : graph.inputs())
    if (graph.node(id).value) inputs.insert_or_assign(graph.node(id).name(), graph.node(id).value->tensor);
  std::vector<double> out;
  for (int t = 1; t <= steps; ++t) {
    for (graph::NodeId id : graph.inputs()) {
      const std::string training = graph::training_of(graph.node(id));
      if (!training.starts_with(graph::kTrainingScalar)) continue;
      auto scalar = parse_step_scalar(training.substr(std::string(graph::kTrainingScalar).size() + 1));
      EXPECT_TRUE(scalar);
      inputs.insert_or_assign(graph.node(id).name(), Tensor::scalar(static_cast<float>(scalar->value({t, 1, 1}))));
    }
    auto outputs = ops::evaluate_graph(graph, inputs);
    EXPECT_TRUE(outputs) << (outputs ? "" : outputs.failure().diagnostics().front().message);
    if (!outputs) return {};
    const std::vector<float> losses = outputs->at("loss").to_f32();
    out.push_back(std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size()));
    const auto loops = graph::loopbacks(graph);
    for (const auto& l : *loops) inputs.insert_or_assign(graph.node(l.input).name(), outputs->at(graph.node(l.output).name()));
  }
  for (const auto& p : step->parameters) {
    const std::vector<float> high = inputs.at(p.name).to_f32();
    const std::vector<float> low =
        inputs.contains(p.name + ".low") ? inputs.at(p.name + ".low").to_f32() : std::vector<float>(high.size(), 0);
    for (std::size_t i = 0; i < high.size(); ++i) out.push_back(static_cast<double>(high[i]) + static_cast<double>(low[i]));
  }
  return out;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5 * std::max(1.0, std::abs(expected[i]))) << i;
}

class Optimizers : public ::testing::TestWithParam<Update> {};

TEST_P(Optimizers, AsPyTorch) {
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"sgd:lr=0.1", {2.388386, 1.342645, 1.003607, 0.8490335, 0.08959655, 0.3300645, 0.4039877}},
      {"sgd:lr=0.1,momentum=0.9,decay=0.01", {2.388386, 1.34194, 0.9256642, 1.177643, -0.2011256, 0.9528393, 0.8581633}},
      {"sgd:lr=0.1,momentum=0.9,nesterov=1", {2.388386, 1.015248, 0.7961652, 0.8063338, -0.1495211, 0.5984716, 0.9587562}},
      {"adam:lr=0.1", {2.388386, 1.857969, 1.4212, 1.077931, 0.1098834, 0.1397983, 0.5005419}},
      {"adam:lr=0.1,decay=0.1", {2.388386, 1.857969, 1.42126, 1.078135, 0.1099404, 0.1395796, 0.5002003}},
      {"adamw:lr=0.1,decay=0.1", {2.388386, 1.842575, 1.401662, 1.062298, 0.09760828, 0.1434608, 0.4909824}}};
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    StepOptions options;
    options.loss.kind = LossKind::mse;
    options.optimizer = *parse_optimizer(text);
    options.update = GetParam();
    expect_near(trained(linear({0.5F, -0.25F}, 1, true), options, f32({3, 1}, {1, 0, 2}), 4), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Updates, Optimizers, ::testing::Values(Update::pairs, Update::plain));

TEST(TrainingStep, CrossEntropyWithSmoothedLabels) {
  StepOptions options;
  options.loss = *parse_loss("cross_entropy:label_smoothing=0.1");
  options.optimizer = *parse_optimizer("sgd:lr=0.5");
  const Tensor target = f32({3, 3}, {1, 0, 0, 0, 0, 1, 0, 1, 0});
  expect_near(trained(linear({0.5F, -0.25F, 0.1F, 0.3F, -0.2F, 0.4F}, 3, false), options, target, 3),
              {1.817951, 1.091877, 0.8240957, 0.06507557, 0.5277829, -0.1049251, 0.132883, 0.4398496, -0.210666});
}

TEST(TrainingStep, LossFromAGraphAndFrozenParameters) {
  ops::Builder b("half");
  auto p = b.input("prediction", {3, 1}), t = b.input("wanted", {3, 1});
  auto d = b.subtract(p, t);
  b.output("halves", b.op("square", {d}));
  StepOptions options;
  options.loss_from_file = *b.finish();
  options.frozen = "^b$";
  auto step = training_step(linear({0.5F, -0.25F}, 1, true), options);
  ASSERT_TRUE(step);
  ASSERT_EQ(step->parameters.size(), 1U);
  EXPECT_EQ(step->parameters[0].name, "w");
  EXPECT_EQ(graph::training_of(step->graph.node(step->graph.find("wanted"))), graph::kTrainingTarget);
  EXPECT_EQ(step->graph.node(step->graph.find("b")).kind(), graph::NodeKind::parameter);
}

// Gradients of the step that the case of SGD above begins with: all of them have a norm of more than 1.
TEST(TrainingStep, ClippedGradients) {
  StepOptions options;
  options.loss.kind = LossKind::mse;
  options.optimizer = *parse_optimizer("sgd:lr=1");
  const auto moved = [&] {
    const std::vector<double> after = trained(linear({0.5F, -0.25F}, 1, true), options, f32({3, 1}, {1, 0, 2}), 1);
    return std::hypot(after[1] - 0.5, after[2] + 0.25, after[3] - 0.1);
  };
  const double whole = moved();
  EXPECT_GT(whole, 1);
  options.clip_norm = 0.5;
  EXPECT_NEAR(moved(), 0.5, 1e-5);
  options.clip_norm = 100;
  EXPECT_NEAR(moved(), whole, 1e-5);
  options.clip_norm = 0;
  options.clip_value = 0.125;
  EXPECT_NEAR(moved(), 0.125 * std::sqrt(3), 1e-5);
}

TEST(TrainingStep, StoredStatisticsStay) {
  ops::Builder b("net");
  auto x = b.input("x", {3, 2});
  const auto two = [&](const char* name) { return b.parameter(name, f32({2}, {1, 2})); };
  auto scale = two("scale"), bias = two("bias"), mean = two("mean"), variance = two("variance");
  b.output("y", b.op("batchnorm", {x, scale, bias, mean, variance}));
  StepOptions options;
  options.loss.kind = LossKind::mse;
  auto step = training_step(*b.finish(), options);
  ASSERT_TRUE(step);
  ASSERT_EQ(step->parameters.size(), 2U);
  EXPECT_EQ(step->parameters[0].name, "scale");
  EXPECT_EQ(step->parameters[1].name, "bias");
}

TEST(TrainingStep, Initialization) {
  StepOptions options;
  options.loss.kind = LossKind::mse;
  options.initialize = 3;
  auto step = training_step(linear({5, 5}, 1, true), options);
  ASSERT_TRUE(step);
  // The weights are turned before the product: nothing tells what they are, and they stay.
  EXPECT_EQ(step->graph.node(step->graph.find("w")).value->tensor.to_f32(), (std::vector<float>{5, 5}));
  EXPECT_EQ(step->graph.node(step->graph.find("b")).value->tensor.to_f32(), (std::vector<float>{0}));
}

std::string code_of(const Result<TrainingStep>& step) { return step ? "" : step.failure().diagnostics().front().code; }

TEST(TrainingStep, Refusals) {
  StepOptions options;
  options.prediction = "z";
  EXPECT_EQ(code_of(training_step(linear({1, 1}, 1, true), options)), "AG013");
  options.prediction = "";
  options.trainable = "nothing";
  EXPECT_EQ(code_of(training_step(linear({1, 1}, 1, true), options)), "AG014");
  options.trainable = "(";
  EXPECT_EQ(code_of(training_step(linear({1, 1}, 1, true), options)), "AG015");
  options.trainable = "";
  options.loss_from_file = linear({1, 1}, 1, true);
  EXPECT_EQ(code_of(training_step(linear({1, 1}, 1, true), options)), "AG016");
  EXPECT_EQ(parse_step_scalar("rate lr=x").failure().diagnostics().front().code, "AG012");
}

// v' = 0.9 v + g and p' = p - rate v', for a matrix of 2 by 2 where nothing else is said.
Graph momentum(const std::string& parameter = "parameter.next", const Shape& rate_shape = Shape{}) {
  ops::Builder b("momentum");
  const auto p = b.input("parameter", {2, 2}), g = b.input("gradient", {2, 2}), v = b.input("velocity", {2, 2});
  const auto rate = b.input("rate", rate_shape), keep = b.constant(0.9F);
  const auto kept = b.multiply(v, keep), next = b.add(kept, g), step = b.multiply(next, rate);
  b.output(parameter, b.subtract(p, step));
  b.output("velocity.next", next);
  auto graph = b.finish();
  EXPECT_TRUE(graph);
  return *graph;
}

TEST(TrainingStep, OptimizerFromAGraphServesAllShapes) {
  for (Update update : {Update::pairs, Update::plain}) {
    StepOptions options;
    options.loss.kind = LossKind::mse;
    options.optimizer = *parse_optimizer("sgd:lr=0.1,momentum=0.9");
    options.update = update;
    const Tensor target = f32({3, 1}, {1, 0, 2});
    const auto expected = trained(linear({0.5F, -0.25F}, 1, true), options, target, 4);
    options.optimizer_from_file = momentum();
    expect_near(trained(linear({0.5F, -0.25F}, 1, true), options, target, 4), expected);
  }
}

TEST(TrainingStep, OptimizersFromGraphsThatServeNone) {
  const auto refused = [](Graph file) {
    StepOptions options;
    options.loss.kind = LossKind::mse;
    options.optimizer_from_file = std::move(file);
    auto step = training_step(linear({0.5F, -0.25F}, 1, true), options);
    return step ? "" : step.failure().diagnostics().back().code + step.failure().diagnostics().back().message;
  };
  EXPECT_EQ(refused(momentum("p")), "AG018the optimizer 'momentum' has the output 'p', which is no state's");
  EXPECT_EQ(refused(momentum("rate.next")), "AG018the optimizer 'momentum' has the output 'rate.next', which is no state's");
  ops::Builder b("still");
  const auto p = b.input("parameter", {2, 2}), g = b.input("gradient", {2, 2}), v = b.input("velocity", {2, 2});
  const auto together = b.add(g, v);
  b.output("parameter.next", b.subtract(p, together));
  EXPECT_EQ(refused(*b.finish()), "AG018the optimizer 'still' does not say what becomes of 'velocity'");
  ops::Builder flat("flat");
  flat.input("parameter", {2, 2});
  const auto only = flat.input("gradient", {2, 2});
  flat.output("parameter.next", flat.reshape(only, {4}));
  EXPECT_EQ(refused(*flat.finish()).substr(0, 5), "AG018");
}

// y = x * mask, whose statistics a step moves by a tenth.
TEST(TrainingStep, StatisticsMove) {
  ops::Builder b("net");
  const auto x = b.input("x", {3, 2}), w = b.parameter("w", f32({1, 2}, {1, 2})), mean = b.parameter("mean", f32({1, 2}, {4, 8}));
  const auto batch = b.reduce_avg(x, {0});
  const auto centred = b.subtract(x, batch);
  b.output("y", b.multiply(centred, w));
  b.output("mean.batch", batch);
  b.graph().node(b.graph().find_output("mean.batch")).tags[graph::kTraining] = "statistic 0.1 mean";
  (void)mean;
  auto model = b.finish();
  ASSERT_TRUE(model);
  StepOptions options;
  options.loss.kind = LossKind::mse;
  auto step = training_step(*model, options);
  ASSERT_TRUE(step) << step.failure().diagnostics().front().message;
  ASSERT_EQ(step->parameters.size(), 1U);
  const Graph& graph = step->graph;
  EXPECT_FALSE(graph.find_output("mean.batch").valid());
  EXPECT_EQ(graph::training_of(graph.node(graph.find("mean"))), graph::kTrainingStatistic);
  NamedTensors inputs{{"x", f32({3, 2}, {1, 2, 3, 4, 5, 12})}, {"target", f32({3, 2}, {0, 0, 0, 0, 0, 0})}};
  for (graph::NodeId id : graph.inputs()) {
    const graph::Node& n = graph.node(id);
    if (n.value) inputs.insert_or_assign(n.name(), n.value->tensor);
    if (graph::training_of(n).starts_with(graph::kTrainingScalar)) inputs.insert_or_assign(n.name(), Tensor::scalar(0.1F));
  }
  auto outputs = ops::evaluate_graph(graph, inputs);
  ASSERT_TRUE(outputs);
  const std::vector<float> next = outputs->at("mean.next").to_f32();
  EXPECT_FLOAT_EQ(next[0], 0.9F * 4 + 0.1F * 3);
  EXPECT_FLOAT_EQ(next[1], 0.9F * 8 + 0.1F * 6);
}

TEST(Spec, NamesAndNumbers) {
  const auto message = [](const auto& result) { return result.failure().diagnostics().front().message; };
  EXPECT_EQ(message(parse_optimizer("sdg")), "option --optimizer: 'sdg' is not one of adagrad, adam, adamw, lamb, lars, rmsprop, sgd");
  EXPECT_EQ(parse_optimizer("sdg").failure().diagnostics().front().hint, "did you mean 'sgd'?");
  EXPECT_EQ(message(parse_optimizer("adam:lr=1,momentum=1")),
            "option --optimizer: 'adam' has no key 'momentum'; its keys are lr, decay, beta1, beta2, epsilon");
  EXPECT_EQ(message(parse_loss("cross_entropy:label_smoothing=2")),
            "option --loss: 'label_smoothing=2' should be label_smoothing=X with X from 0 to 1");
  EXPECT_EQ(message(parse_optimizer("sgd:nesterov=1")), "option --optimizer: nesterov=1 needs a momentum, such as momentum=0.9");
}

// Of one batch the sum is the gradient, and its share all of it.
TEST(TrainingStep, InProgramsLearnsTheSameOfOneBatch) {
  StepOptions options;
  options.loss = *parse_loss("mse");
  options.optimizer = *parse_optimizer("adam:lr=0.1");
  const Tensor target = f32({3, 1}, {1, -1, 0.5F});
  const auto step = trained(linear({0.5F, -0.25F}, 1, true), options, target, 4);
  options.form = StepForm::programs;
  EXPECT_EQ(trained(linear({0.5F, -0.25F}, 1, true), options, target, 4), step);
  const auto programs = training_step(linear({0.5F, -0.25F}, 1, true), options);
  ASSERT_TRUE(programs);
  EXPECT_TRUE(graph::runs_in_phases(programs->graph));
  const graph::Node& sum = programs->graph.node(programs->graph.find("grad_acc.w"));
  EXPECT_EQ(sum.op(), "buffer");
  EXPECT_TRUE(graph::adds_up_gradients(sum));
  options.form = StepForm::step;
  EXPECT_FALSE(graph::runs_in_phases(training_step(linear({0.5F, -0.25F}, 1, true), options)->graph));
}

TEST(Scalars, TheShareOfABatch) { EXPECT_EQ((StepScalar{ScalarKind::share}.value({3, 0.5, 4})), 0.25); }

TEST(Scalars, WhatAMovingMeanTakesOfSeveralBatches) {
  StepScalar moving{ScalarKind::moving};
  moving.part = 0.5;
  EXPECT_DOUBLE_EQ(moving.value({3, 1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(moving.value({3, 1, 3}), 0.875);
  EXPECT_DOUBLE_EQ((StepScalar{ScalarKind::step}.value({3, 1, 1})), 3);
}

TEST(Scalars, TextsAreRead) {
  for (ScalarKind kind : {ScalarKind::rate, ScalarKind::decay, ScalarKind::adam_rate, ScalarKind::adam_epsilon, ScalarKind::adam_correction,
                          ScalarKind::falling_rate, ScalarKind::share, ScalarKind::moving, ScalarKind::step}) {
    const StepScalar scalar{kind, 0.1, 0.01, 0.9, 0.999, 1e-8, 0.02, 0.3};
    auto read = parse_step_scalar(scalar.text());
    ASSERT_TRUE(read) << scalar.text();
    EXPECT_EQ(read->value({7, 0.5, 1}), scalar.value({7, 0.5, 1}));
  }
}

TEST(Schedules, Factors) {
  EXPECT_EQ(parse_schedule("constant")->at(5, 10), 1);
  EXPECT_DOUBLE_EQ(parse_schedule("linear:to=0.5")->at(6, 11), 0.75);
  EXPECT_DOUBLE_EQ(parse_schedule("cosine")->at(6, 11), 0.5);
  EXPECT_DOUBLE_EQ(parse_schedule("cosine")->at(11, 11), 0);
  EXPECT_DOUBLE_EQ(parse_schedule("step:every=3,factor=0.5")->at(7, 10), 0.25);
  EXPECT_DOUBLE_EQ(parse_schedule("constant:warmup=3")->at(2, 10), 0.5);
  EXPECT_DOUBLE_EQ(parse_schedule("polynomial:to=0.5,power=2")->at(6, 11), 0.625);
  EXPECT_DOUBLE_EQ(parse_schedule("exponential:factor=0.5")->at(4, 10), 0.125);
  EXPECT_FALSE(parse_schedule("geometric"));
}

}  // namespace
}  // namespace buda::autograd
