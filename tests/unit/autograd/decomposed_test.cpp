// SPDX-License-Identifier: Apache-2.0
// Ops that are decomposed before they are differentiated, by the decompositions of the build's plugins, next to central differences.
#include "gradient_cases.hpp"

#include <buda/autograd/rules/rules.hpp>
#include <buda/compiler/training.hpp>
#include <buda/io/host.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/passes/decompose/decompose_nodes.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/plugin/rule.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace buda::autograd {
namespace {

struct Decompositions {
  std::unique_ptr<io::FileSystem> fs = io::make_real_file_system();
  CollectingSink sink;
  Host host{*fs, sink};
  plugin::Registries registries;
  passes::DecompositionSet rules;

  Decompositions() {
    plugin::SearchPath path;
    path.installed_directory =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/buda/plugins/abi1").string();
    EXPECT_TRUE(plugin::load_plugins(path, {plugin::Kind::decomposition}, registries, host));
    auto made = plugin::make_decompositions(registries, {}, host);
    EXPECT_TRUE(made);
    if (made) rules = std::move(*made);
  }
};

DecomposeNodes with_plugins() {
  static auto* all = new Decompositions;
  return [](graph::Graph& graph, const std::set<graph::NodeId>& nodes) {
    return passes::decompose_nodes(graph, nodes, all->rules, all->host);
  };
}

std::map<std::size_t, double> lengths(std::initializer_list<double> steps) {
  std::map<std::size_t, double> out;
  for (double x : steps) out.emplace(out.size(), x);
  return out;
}

// x [steps, batch, input], w, r, b, lengths, h, and of an lstm c and p.
Case recurrent(const char* op, std::int64_t gates, Shape sizes, AttrMap attrs, std::initializer_list<double> ends) {
  const std::int64_t steps = sizes[0], batch = sizes[1], input = sizes[2], hidden = sizes[3];
  const auto direction = attrs.find("direction");
  const std::int64_t d = direction != attrs.end() && direction->second == graph::Attr(std::string("bidirectional")) ? 2 : 1;
  Case c{op,
         {{steps, batch, input},
          {d, gates * hidden, input},
          {d, gates * hidden, hidden},
          {d, 2 * gates * hidden},
          {batch},
          {d, batch, hidden}},
         std::move(attrs),
         -1,
         1,
         {DType::f64, DType::f64, DType::f64, DType::f64, DType::i32}};
  if (gates == 4) {
    c.inputs.push_back({d, batch, hidden});
    c.inputs.push_back({d, 3 * hidden});
  }
  c.set[4] = lengths(ends);
  c.constants = {4};
  return c;
}

std::vector<Case> decomposed_cases() {
  std::vector<Case> out;
  using Ints = std::vector<std::int64_t>;
  out.push_back({"determinant", {{3, 3}}});
  out.push_back({"determinant", {{2, 4, 4}}});
  out.push_back({"dft", {{2, 5, 1}}});
  out.push_back({"dft", {{1, 4, 3, 2}}, {{"dim", std::int64_t{2}}, {"inverse", true}}});
  out.push_back({"dft", {{2, 6, 1}}, {{"length", std::int64_t{7}}, {"onesided", true}}});
  for (const char* padding : {"zeros", "border", "reflection"}) {
    out.push_back({"grid_sample", {{1, 2, 4, 5}, {1, 3, 2, 2}}, {{"padding", padding}}, -1.3, 1.3});
    out.push_back({"grid_sample", {{2, 1, 3, 3}, {2, 2, 2, 2}}, {{"padding", padding}, {"align_corners", true}}, -1.3, 1.3});
  }
  out.push_back({"grid_sample", {{1, 2, 5, 4}, {1, 2, 3, 2}}, {{"mode", "bicubic"}}, -0.9, 0.9});
  const AttrMap bins{{"pooled", Ints{2, 3}}, {"sampling_ratio", std::int64_t{2}}};
  const std::map<std::size_t, double> regions = {{0, 0.3}, {1, 0.6}, {2, 3.1}, {3, 4.2}, {4, 1.2}, {5, 0.4}, {6, 4.3}, {7, 2.9}};
  out.push_back(
      {"roi_align", {{1, 2, 5, 5}, {2, 4}, {2}}, bins, -1, 1, {DType::f64, DType::f64, DType::i64}, {{1, regions}, {2, lengths({0, 0})}}});
  out.push_back(
      {"roi_align", {{2, 1, 6, 5}, {2, 4}, {2}}, bins, -1, 1, {DType::f64, DType::f64, DType::i64}, {{1, regions}, {2, lengths({1, 0})}}});
  out.push_back(recurrent("rnn", 1, {3, 2, 4, 3}, {}, {3, 3}));
  out.push_back(recurrent("rnn", 1, {4, 1, 3, 2}, {{"direction", "bidirectional"}}, {4}));
  out.push_back(recurrent("lstm", 4, {3, 2, 3, 2}, {}, {3, 3}));
  out.push_back(recurrent("lstm", 4, {4, 3, 2, 3}, {{"direction", "bidirectional"}}, {4, 2, 3}));
  out.push_back(recurrent("lstm", 4, {2, 1, 3, 2}, {{"input_forget", true}, {"direction", "reverse"}}, {2}));
  out.push_back(recurrent("gru", 3, {3, 2, 3, 2}, {}, {3, 3}));
  out.push_back(recurrent("gru", 3, {3, 1, 2, 5}, {{"linear_before_reset", true}, {"direction", "bidirectional"}}, {3}));
  return out;
}

class Decomposed : public ::testing::TestWithParam<Case> {};

TEST_P(Decomposed, AgreesWithDifferences) { expect_gradients(GetParam(), with_plugins()); }

INSTANTIATE_TEST_SUITE_P(Each, Decomposed, ::testing::ValuesIn(decomposed_cases()));

// Straight through a rounding, and a half of what our rule of tanh gives.
std::vector<plugin::Term> straight(plugin::Rewrite&, const std::vector<plugin::Term>& incoming) { return incoming; }
std::vector<plugin::Term> half(plugin::Rewrite& r, const std::vector<plugin::Term>& incoming) {
  const plugin::Term y = r.result_of(0);
  const plugin::Term slope = 1 - y * y;
  return {incoming[0] * slope * 0.5};
}
plugin::Term unchanged(plugin::Rewrite& r) { return r.in(0) + 0; }

TEST(GradientsOfPlugins, TakeThePlaceOfOurs) {
  io::MemoryFileSystem fs;
  CollectingSink sink;
  Host host(fs, sink);
  plugin::Registries registries;
  const plugin::Provenance from{"test", "1", ""};
  registries.decompositions.insert(
      {plugin::rule({.name = "whole", .summary = "", .consumes = {"round"}, .produces = {"add"}, .build = unchanged, .gradient = straight}),
       from});
  registries.decompositions.insert(
      {plugin::rule({.name = "flat", .summary = "", .consumes = {"tanh"}, .produces = {"add"}, .build = unchanged, .gradient = half}),
       from});
  ops::Builder b("net");
  auto x = b.input("x", {1, 2});
  auto w = b.parameter("w", Tensor(Shape{1, 2}, std::vector<float>{0.5F, -2}));
  auto product = b.multiply(x, w);
  auto whole = b.op("round", {product});
  b.output("y", b.op("tanh", {whole}));
  StepOptions options;
  options.loss.kind = LossKind::l1;
  options.update = Update::plain;
  options.optimizer.lr = 1;
  auto step = compiler::training_step(*b.finish(), options, {registries, {}}, host);
  ASSERT_TRUE(step) << step.failure().diagnostics().front().message;
  // round(3 * 0.5) = 2, round(1 * -2) = -2; the loss is the mean of |y - target| with targets beyond y.
  const NamedTensors inputs{{"x", Tensor(Shape{1, 2}, std::vector<float>{3, 1})},
                            {"w", Tensor(Shape{1, 2}, std::vector<float>{0.5F, -2})},
                            {"target", Tensor(Shape{1, 2}, std::vector<float>{5, 5})},
                            {"step.rate", Tensor::scalar(1.0F)}};
  auto outputs = ops::evaluate_graph(step->graph, inputs);
  ASSERT_TRUE(outputs) << outputs.failure().diagnostics().front().message;
  const std::vector<float> next = outputs->at("w.next").to_f32();
  const double slope = 0.5 * (1 - std::tanh(2.0) * std::tanh(2.0)) / 2;
  EXPECT_NEAR(next[0], 0.5 + 3 * slope, 1e-6);
  EXPECT_NEAR(next[1], -2 + slope, 1e-6);
}

TEST(DecomposedOps, AllAreTested) {
  std::set<std::string> tested, told;
  for (const Case& c : decomposed_cases()) tested.insert(c.op);
  for (const GradientRule& rule : all_rules())
    if (rule.kind == RuleKind::decomposed) told.emplace(rule.op);
  EXPECT_EQ(tested, told);
}

}  // namespace
}  // namespace buda::autograd
