// SPDX-License-Identifier: Apache-2.0
// Mixed graphs as segments: run one after the other, they give what the mixed graph gives.
#include <buda/balance/emit/segments.hpp>

#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/tensor/tensor.hpp>

#include "unit/balance/fixture.hpp"

#include <functional>

namespace buda::balance {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Builder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor numbers(const Shape& shape, float first) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = first + static_cast<float>(i) / 8;
  return Tensor(shape, std::move(v));
}

NamedTensors evaluated(const Graph& graph, const NamedTensors& inputs) {
  auto out = ops::evaluate_graph(graph, inputs);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.failure().diagnostics().front().message;
  return {};
}

// A device graph of which some nodes are put on the host: those are written as the host has them.
class Mixed {
 public:
  Graph graph{"m", graph::Level::device};

  NodeId host(const std::string& name, const std::string& op, std::vector<graph::Edge> inputs, graph::AttrMap attrs = {}) {
    NodeId id = graph.add(name, op, std::move(inputs));
    graph::put_on_host(graph.node(id));
    graph.node(id).attrs = std::move(attrs);
    if (op != "input") infer(id);
    return id;
  }
  NodeId host_input(const std::string& name, Shape shape) {
    NodeId id = host(name, "input", {});
    graph.node(id).outputs = {{DType::f32, std::move(shape), std::nullopt}};
    return id;
  }
  NodeId device(const std::string& name, const std::string& op, std::vector<graph::Edge> inputs, graph::AttrMap attrs = {}) {
    NodeId id = graph.add(name, op, std::move(inputs));
    graph.node(id).attrs = std::move(attrs);
    infer(id);
    return id;
  }
  NodeId output(const std::string& name, NodeId from, std::optional<Shape> model = {}) {
    NodeId id = graph.add(name, "output", {from});
    if (model) graph.node(id).attrs["model_shape"] = model->dims();
    return id;
  }

 private:
  void infer(NodeId id) {
    auto types = ops::infer_node(graph, graph.node(id));
    if (types)
      graph.node(id).outputs = *types;
    else
      ADD_FAILURE() << types.failure().diagnostics().front().message;
  }
};

graph::AttrMap border(const Shape& shape) { return {{"model_shape", shape.dims()}}; }

// x -> softmax -> (device) exp, of which one output is given at once -> softmax, plus the first one -> y; both hosts use x.
Graph there_and_back() {
  Mixed m;
  const Shape shape{2, 5};
  NodeId x = m.host_input("x", shape);
  NodeId s = m.host("s", "softmax", {x}, {{"dim", std::int64_t{1}}});
  NodeId in = m.device("s.in", "to_device", {s}, border(shape));
  NodeId also = m.device("x.in", "to_device", {x}, border(shape));
  NodeId e = m.device("e", "exp", {in});
  NodeId product = m.device("product", "multiply", {e, also});
  NodeId back = m.host("y", "to_host", {product}, border(shape));  // called like an output of the model
  NodeId t = m.host("t", "softmax", {back}, {{"dim", std::int64_t{0}}});
  NodeId sum = m.host("sum", "add", {t, s});
  m.output("y", m.host("y2", "add", {sum, x}));
  m.output("e", e, shape);
  m.output("s", s);
  return std::move(m.graph);
}

TEST(Segments, GiveWhatTheMixedGraphGives) {
  Graph mixed = there_and_back();
  ASSERT_TRUE(ops::check(mixed)) << ops::check(mixed).failure().diagnostics().front().message;
  NamedTensors inputs = {{"x", numbers({2, 5}, -0.5f)}}, expected = evaluated(mixed, inputs);
  ASSERT_EQ(expected.size(), 3u);
  auto split = split_segments(mixed);
  ASSERT_TRUE(split) << split.failure().diagnostics().front().message;
  ASSERT_EQ(split->host.size(), 2u);
  ASSERT_TRUE(split->host[0] && split->device && split->host[1]);
  for (const Graph* part : {&*split->host[0], &*split->device, &*split->host[1]})
    EXPECT_TRUE(ops::check(*part)) << ops::check(*part).failure().diagnostics().front().message;
  EXPECT_FALSE(graph::is_mixed(*split->device));

  NamedTensors values = inputs, given;
  auto step = [&](const Graph& part) {
    NamedTensors in;
    for (NodeId id : part.inputs()) {
      const std::string& name = part.node(id).name();
      auto other = split->entering.find(name);
      in.emplace(name, values.at(other == split->entering.end() ? name : other->second.name));
    }
    for (auto& [name, tensor] : evaluated(part, in)) (expected.contains(name) ? given : values).emplace(name, tensor);
  };
  step(*split->host[0]);
  step(*split->device);
  step(*split->host[1]);
  EXPECT_EQ(given, expected);
  EXPECT_EQ(split->entering.at("x.in").name, "x") << "an input of the model needs no graph to get there";
  ASSERT_EQ(split->inputs.size(), 1u);
  EXPECT_THAT(split->inputs[0].shape, ElementsAre(2, 5));
  ASSERT_EQ(split->outputs.size(), 3u);
  EXPECT_THAT(split->outputs[1].shape, ElementsAre(2, 5)) << "the model's shape of an output of the device";
}

TEST(Segments, ThePlanNamesThem) {
  auto split = split_segments(there_and_back());
  ASSERT_TRUE(split);
  host_plan::HostPlan plan;
  for (NodeId id : split->device->inputs()) plan.inputs.push_back({split->device->node(id).name(), "F32", {2, 5}, "q_in", {}});
  for (NodeId id : split->device->outputs()) plan.outputs.push_back({split->device->node(id).name(), "F32", {2, 5}, "q_out", {}});
  plan.segments = {{host_plan::SegmentKind::device, "m.yaml", {"run_fwd_0"}}};
  add_host_segments(plan, *split, "m");
  ASSERT_EQ(plan.segments.size(), 3u);
  EXPECT_EQ(plan.segments[0].file, "m.before.graph.json");
  EXPECT_EQ(plan.segments[0].kind, host_plan::SegmentKind::host);
  EXPECT_EQ(plan.segments[1].file, "m.yaml");
  ASSERT_EQ(plan.segments[1].inputs.size(), 2u);
  EXPECT_EQ(plan.segments[1].inputs[0].name, "s.in");
  EXPECT_EQ(plan.segments[1].inputs[1].name, "x");
  ASSERT_EQ(plan.segments[1].outputs.size(), 1u);
  EXPECT_NE(plan.segments[1].outputs[0].name, "y") << "that is the model's";
  EXPECT_EQ(plan.segments[2].file, "m.behind.graph.json");
  ASSERT_EQ(plan.outputs.size(), 3u);
  EXPECT_EQ(plan.outputs[0].name, "y");
  EXPECT_EQ(plan.outputs[0].queue, "");
  EXPECT_EQ(plan.outputs[1].name, "e");
  EXPECT_EQ(plan.outputs[1].queue, "q_out");
  EXPECT_EQ(plan.inputs[0].queue, "");
}

TEST(Segments, AGraphOfTheDeviceIsOneSegment) {
  DeviceGraph b;
  b.output("y", b.linear("fc", b.input("x", {1, 1, 32, 32}), 32, 32, 32));
  auto split = split_segments(b.graph);
  ASSERT_TRUE(split);
  EXPECT_TRUE(split->device);
  EXPECT_FALSE(split->has_host());
}

TEST(Segments, AGraphOfTheHostHasNoDevice) {
  Mixed m;
  m.output("y", m.host("s", "softmax", {m.host_input("x", {2, 5})}, {{"dim", std::int64_t{1}}}));
  auto split = split_segments(m.graph);
  ASSERT_TRUE(split);
  ASSERT_EQ(split->host.size(), 1u);
  EXPECT_TRUE(split->host[0]);
  EXPECT_FALSE(split->device);
}

// x -> first (device) -> softmax -> second (device) -> y, which takes the first one, too: through the host, or as it is.
Graph twice_on_the_device(bool through_host) {
  Mixed m;
  const Shape shape{2, 5};
  NodeId x = m.host_input("x", shape);
  NodeId first = m.device("first", "exp", {m.device("in", "to_device", {x}, border(shape))});
  NodeId out = m.host("out", "to_host", {first}, border(shape));
  NodeId s = m.host("s", "softmax", {out}, {{"dim", std::int64_t{1}}});
  NodeId again = m.device("again", "to_device", {s}, border(shape));
  NodeId skip = through_host ? m.device("skip", "to_device", {out}, border(shape)) : first;
  NodeId second = m.device("second", "add", {again, skip});
  NodeId back = m.host("back", "to_host", {second}, border(shape));
  m.output("y", m.host("z", "add", {back, s}));
  m.output("second", second, shape);
  return std::move(m.graph);
}

TEST(Segments, TwiceOnTheDevice) {
  Graph mixed = twice_on_the_device(true);
  ASSERT_TRUE(ops::check(mixed));
  auto split = split_segments(mixed);
  ASSERT_TRUE(split) << split.failure().diagnostics().front().message;
  EXPECT_EQ(split->device_segments, 2u);
  ASSERT_EQ(split->host.size(), 3u);
  EXPECT_FALSE(split->host[0]) << "an input passes as it is";
  ASSERT_TRUE(split->host[1] && split->host[2]);
  EXPECT_EQ(split->device->node(split->device->find("first")).tags.at(graph::kSegment), "0");
  EXPECT_EQ(split->device->node(split->device->find("second")).tags.at(graph::kSegment), "1");
  EXPECT_EQ(split->entering.at("skip").name, "out") << "what one segment gives another takes";
  EXPECT_EQ(split->entering.at("skip").segment, 1u);
  EXPECT_EQ(split->leaving.at("out").segment, 0u);
  EXPECT_EQ(split->leaving.at("back").segment, 1u);

  host_plan::HostPlan plan;
  for (NodeId id : split->device->inputs()) plan.inputs.push_back({split->device->node(id).name(), "F32", {2, 5}, "q", {}});
  for (NodeId id : split->device->outputs()) plan.outputs.push_back({split->device->node(id).name(), "F32", {2, 5}, "q", {}});
  for (const char* program : {"run_fwd_0", "run_fwd_1"}) plan.segments.push_back({host_plan::SegmentKind::device, "m.yaml", {program}});
  add_host_segments(plan, *split, "m");
  std::vector<std::string> order;
  for (const auto& segment : plan.segments) order.push_back(segment.programs.empty() ? segment.file : segment.programs.front());
  EXPECT_THAT(order, ElementsAre("run_fwd_0", "m.between1.graph.json", "run_fwd_1", "m.behind.graph.json"));
  EXPECT_EQ(plan.segments[2].inputs.size(), 2u);
  EXPECT_EQ(plan.outputs[1].queue, "q") << "of the device";
}

TEST(Segments, AValueThatStaysOnTheDeviceKeepsItsOpsTogether) {
  Graph mixed = twice_on_the_device(false);
  ASSERT_TRUE(ops::check(mixed));
  auto split = split_segments(mixed);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.failure().diagnostics().front().code, "BL024");
  EXPECT_EQ(split.failure().diagnostics().front().node, "again");
}

TEST(Segments, SidesMeetAtCrossingsOnly) {
  Mixed m;
  NodeId x = m.host_input("x", {1, 1, 32, 32});
  NodeId e = m.graph.add("e", "exp", {x});
  m.graph.node(e).outputs = {{DType::f32, {1, 1, 32, 32}, std::nullopt}};
  m.output("y", e);
  auto checked = ops::check(m.graph);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.failure().diagnostics().front().code, "GR013");
  EXPECT_THAT(checked.failure().diagnostics().front().hint, HasSubstr("to_device"));
}

// ---- phases

// x * w -> y (forward), y * x -> g (backward), which adds up, and w + g -> w.next (optimizer).
Graph in_three_phases() {
  Mixed m;
  const Shape shape{32, 32};
  auto x = m.graph.add("x", "input"), w = m.graph.add("w", "input");
  for (NodeId id : {x, w}) {
    m.graph.node(id).outputs = {{DType::f32, {1, 1, 32, 32}, std::nullopt}};
    m.graph.node(id).attrs = border(shape);
  }
  m.graph.node(w).tags = {{graph::kLoopback, "w.next"}, {graph::kTraining, graph::kTrainingParameter}};
  auto y = m.device("forward", "multiply", {x, w});
  auto g = m.device("backward", "multiply", {y, x});
  auto sum = m.device("sum", "nop", {g});
  auto next = m.device("update", "add", {w, sum});
  m.output("y", y, shape);
  m.output("w.next", next, shape);
  for (NodeId id : {g, sum}) m.graph.node(id).tags[graph::kPhase] = graph::kPhaseBackward;
  m.graph.node(sum).tags[graph::kTraining] = graph::kTrainingGradient;
  m.graph.node(next).tags[graph::kPhase] = graph::kPhaseOptimizer;
  return std::move(m.graph);
}

std::string segment_of(const Graph& graph, const std::string& name) { return graph.node(graph.find(name)).tags.at(graph::kSegment); }

TEST(Phases, AreSegments) {
  auto segments = split_segments(in_three_phases());
  ASSERT_TRUE(segments) << segments.failure().diagnostics().front().message;
  EXPECT_EQ(segments->device_segments, 3u);
  EXPECT_EQ(segments->host.size(), 4u);
  EXPECT_EQ(segment_of(*segments->device, "forward"), "0");
  EXPECT_EQ(segment_of(*segments->device, "backward"), "1");
  EXPECT_EQ(segment_of(*segments->device, "sum"), "1");
  EXPECT_EQ(segment_of(*segments->device, "update"), "2");
}

TEST(Phases, TheOptimizerReadsSumsOnly) {
  Graph graph = in_three_phases();
  graph.set_input(graph.find("update"), 0, graph::Edge(graph.find("forward")));
  auto segments = split_segments(std::move(graph));
  ASSERT_FALSE(segments);
  EXPECT_EQ(segments.failure().diagnostics().front().code, "BL056");
  EXPECT_THAT(segments.failure().diagnostics().front().message, HasSubstr("reads 'forward', which is made anew for each batch"));
}

TEST(Phases, BatchesDoNotReadSums) {
  Graph graph = in_three_phases();
  graph.set_input(graph.find("forward"), 1, graph::Edge(graph.find("sum")));
  graph.set_input(graph.find("backward"), 0, graph::Edge(graph.find("x")));
  graph.node(graph.find("forward")).tags[graph::kPhase] = graph::kPhaseLoss;
  auto segments = split_segments(std::move(graph));
  ASSERT_FALSE(segments);
  EXPECT_THAT(segments.failure().diagnostics().front().message, HasSubstr("runs for each batch, and reads 'sum'"));
}

}  // namespace
}  // namespace buda::balance
