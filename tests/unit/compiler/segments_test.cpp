// SPDX-License-Identifier: Apache-2.0
// Models of which the host computes something in the middle: compiled to one image and run on golden they give what the graph gives.
#include "stages.hpp"

#include <buda/base/rng.hpp>
#include <buda/compiler/compile.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/session.hpp>

#include <cmath>
#include <set>

namespace buda::compiler {
namespace {

using ops::Builder;

Tensor drawn(Rng& rng, const Shape& shape, float most) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = most * (2 * static_cast<float>(rng.below(1001)) / 1000 - 1);
  return Tensor(shape, std::move(v));
}

class SegmentedModels : public Stages {
 protected:
  SegmentedModels() {
    set(optimizer_names_, "default-df-override", "Float32");
    set(optimizer_names_, "default-math-fidelity", "HiFi4");
  }

  // The image's outputs for two batches; the plan's segments are left in `kinds`: "dhd".
  void check(const graph::Graph& graph, const NamedTensors& inputs) {
    CompileOptions options;
    options.optimizer = optimizer_;
    options.balancer = balancer_;
    auto image = buda::compile({"models/m.graph.json", io::Bytes(graph::graph_text(graph))}, options, build_plugins(), host_);
    ASSERT_TRUE(image) << message(image.failure());
    kinds.clear();
    for (const auto& segment : image->device.plan.segments) kinds += segment.kind == host_plan::SegmentKind::host ? 'h' : 'd';
    auto model = runtime::load_image("m.tti", std::move(*image));
    ASSERT_TRUE(model) << message(model.failure());
    auto target = plugin::make(build_plugins(), build_plugins().targets, plugin::Kind::target, "golden", {}, host_);
    ASSERT_TRUE(target) << message(target.failure());
    auto session = runtime::Session::open(std::move(*model), **target, device(), host_);
    ASSERT_TRUE(session) << message(session.failure());
    auto given = (*session)->run(inputs);
    ASSERT_TRUE(given) << message(given.failure());
    auto expected = ops::evaluate_graph(graph, inputs);
    ASSERT_TRUE(expected) << message(expected.failure());
    for (const auto& [name, tensor] : *expected) {
      const std::vector<float> wanted = tensor.to_f32(), got = given->at(name).to_f32();
      ASSERT_EQ(wanted.size(), got.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], 0.02 + 0.02 * std::abs(wanted[i])) << name << '[' << i << ']';
    }
  }

  std::string kinds;
};

// Random chains and forks of products, elementwise ops and ops that are named for the host.
TEST_F(SegmentedModels, GiveWhatTheirGraphsGive) {
  set(optimizer_names_, "cpu-fallback-ops", "sine");
  std::set<std::string> met;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Builder b("m");
    std::vector<graph::ValueRef> values = {b.input("x", {6, 40}), b.input("z", {6, 40})};
    const std::size_t count = 4 + rng.below(9);
    for (std::size_t i = 0; i < count; ++i) {
      const graph::Edge x = values[values.size() - 1 - rng.below(std::min<std::size_t>(values.size(), 3))];
      const graph::Edge y = values[rng.below(values.size())];
      b.named("n" + std::to_string(i));
      switch (rng.below(5)) {
        case 0:
        case 1:
          values.push_back(b.matmul(x, b.parameter("w" + std::to_string(i), drawn(rng, {40, 40}, 0.2f))));
          break;
        case 2:
          values.push_back(b.op("sine", {x}));
          break;
        case 3:
          values.push_back(b.add(x, y));
          break;
        default:
          values.push_back(b.relu(x));
      }
    }
    b.output("y", values.back());
    b.output("w", values[values.size() / 2]);
    auto graph = b.finish();
    ASSERT_TRUE(graph) << message(graph.failure());
    check(*graph, {{"x", drawn(rng, {6, 40}, 1)}, {"z", drawn(rng, {6, 40}, 1)}});
    met.insert(kinds);
    if (HasFailure()) return;
  }
  const auto most = std::max_element(met.begin(), met.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  EXPECT_GE(most->size(), 5u) << "the longest: " << *most;
}

}  // namespace
}  // namespace buda::compiler
