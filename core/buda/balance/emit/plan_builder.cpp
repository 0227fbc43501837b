// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs and parameters of a host plan.
#include <buda/balance/emit/plan_builder.hpp>

#include <buda/balance/emit/epoch_phases.hpp>
#include <buda/balance/emit/program.hpp>
#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/mixed_rows.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace buda::balance {
namespace {

using graph::Graph;
using graph::Node;
using host_plan::Transform;
using host_plan::TransformKind;

// Names that safetensors keeps for itself.
constexpr std::string_view kReservedTensorName = "__metadata__";

Result<Shape> shape_attr(const Node& node, std::string_view name, const Shape& otherwise) {
  auto found = node.attrs.find(name);
  if (found == node.attrs.end()) return otherwise;
  const auto* dims = std::get_if<std::vector<std::int64_t>>(&found->second);
  Shape shape = dims != nullptr ? Shape(*dims) : Shape{-1};
  if (!shape.volume()) {
    Diagnostic d =
        input_error("BL018", node.loc,
                    cat("node '", node.name(), "': attribute '", name, "' is ", graph::attr_text(found->second), ", not a list of sizes"));
    d.node = node.name();
    return d;
  }
  return shape;
}

// What the user pushes or pops, and the shape under which it is padded: the host reshapes between them (ops/device/device_layout.hpp).
Result<ops::BorderShapes> border_shapes(const Node& node, const Shape& device) {
  BUDA_ASSIGN(Shape model, shape_attr(node, ops::kModelShape, device));
  BUDA_ASSIGN(Shape view, shape_attr(node, ops::kViewShape, model));
  if (model.volume() == view.volume()) {
    ops::BorderShapes shapes = ops::border_shapes(node, device);
    auto sound = ops::check_border(shapes);
    if (sound) return shapes;
    Diagnostic d = input_error("BL018", node.loc, cat("node '", node.name(), "': ", sound.failure().diagnostics().front().message));
    d.node = node.name();
    return d;
  }
  Diagnostic d = input_error("BL018", node.loc,
                             cat("node '", node.name(), "': its model_shape ", model.text(), " and its view_shape ", view.text(),
                                 " have different numbers of elements"));
  d.node = node.name();
  return d;
}

// What the host does between the model's shape and the one under which a value is padded.
std::vector<Transform> host_steps(const ops::BorderShapes& shapes, const Shape& from, const Shape& to) {
  std::vector<Transform> steps;
  Shape at = from;
  auto reshape = [&](const Shape& shape) {
    if (at != shape) steps.push_back({TransformKind::reshape, shape.dims(), 0});
    at = shape;
  };
  if (shapes.transposes()) {
    reshape(shapes.split);
    steps.push_back({TransformKind::transpose, shapes.order, 0});
    for (std::size_t i = 0; i < shapes.order.size(); ++i) at[i] = shapes.split[static_cast<std::size_t>(shapes.order[i])];
  }
  reshape(to);
  return steps;
}

// Errors of shapes, told of their node.
template <class T>
Result<T> at_node(const Node& node, Result<T> result) {
  if (result) return result;
  for (auto& d : result.failure().diagnostics()) {
    d.message = cat("node '", node.name(), "': ", d.message);
    d.node = node.name();
    if (d.loc.line == 0) d.loc = node.loc;
  }
  return std::move(result).failure();
}

class HostPlanBuilder {
 public:
  HostPlanBuilder(const Graph& graph, const Problem& problem, const QueueSet& queues, const PlanFiles& files)
      : graph_(graph), problem_(problem), queues_(queues), files_(files) {}

  Result<BuiltPlan> run() {
    host_plan::HostPlan& plan = out_.plan;
    plan.model = graph_.name;
    plan.device = problem_.device->name;
    plan.arch = problem_.device->arch;
    find_replaced();
    find_queues();
    auto handle = [&](Result<void> added) {
      if (!added) failure_.add(std::move(added).failure());
    };
    for (graph::NodeId id : graph_.inputs()) {
      auto queue = of_inputs_.find(id);
      handle(queue == of_inputs_.end() ? add_unread_input(graph_.node(id)) : add_input(*queue->second));
    }
    for (std::size_t i = 0; i < problem_.sinks.size(); ++i) handle(add_output(*of_outputs_[i], problem_.sinks[i]));
    for (const QueuePlan& q : queues_.queues)
      if (q.role == QueueRole::parameter || q.role == QueueRole::constant) handle(add_parameter(q));
    if (!failure_.empty()) return failure_;
    using host_plan::SegmentPhase;
    const std::array<SegmentPhase, kPhases> phases = {SegmentPhase::forward, SegmentPhase::backward, SegmentPhase::optimizer};
    for (std::int32_t s = 0; s < problem_.segments(); ++s) {
      plan.segments.push_back({host_plan::SegmentKind::device, files_.netlist, {program_name(problem_, s)}});
      if (problem_.trains) plan.segments.back().phase = phases[static_cast<std::size_t>(s)];
      plan.segments.back().batches = problem_.trains && s == kOptimizerSegment ? 1 : problem_.batches;
    }
    return std::move(out_);
  }

 private:
  // Queues of outputs stand in the order of outputs.
  void find_queues() {
    auto next = queues_.queues.begin();
    for (const QueuePlan& q : queues_.queues)
      if (q.role == QueueRole::input || q.role == QueueRole::loopback) of_inputs_.emplace(problem_.source(q.source).node, &q);
    for (const SinkSpec& sink : problem_.sinks) {
      if (!sink.inputs.empty()) {
        of_outputs_.push_back(of_inputs_.at(problem_.source(sink.inputs.front()).node));
        continue;
      }
      next = std::find_if(next, queues_.queues.end(), [](const QueuePlan& q) { return q.role == QueueRole::output; });
      of_outputs_.push_back(&*next++);
    }
  }

  // Numbers of rows as they follow one another in a tile.
  static std::vector<Transform> steps_to_numbers(const Shape& device, std::int64_t count) {
    constexpr std::int64_t kTile = graph::kTileSide * graph::kTileSide;
    return {{TransformKind::reshape, {device[0], 1, 1, count}, 0},
            {TransformKind::pad, {0, 0, 0, kTile - count}, 0},
            {TransformKind::reshape, {device[0], 1, graph::kTileSide, graph::kTileSide}, 0}};
  }

  // What the queue holds of a value: the rows that its tiles have, and of a padded one (legalize/padding.hpp) more.
  static Shape rows_held(Shape device, const QueuePlan& q, const netlist::TileShape& padded) {
    if (device.rank() != 4) return device;
    device[2] = padded.rt * q.queue.tile_dim.rows;
    device[3] = padded.ct * graph::kTileSide;
    return device;
  }

  Result<void> add_input(const QueuePlan& q) {
    const Node& node = graph_.node(problem_.source(q.source).node);
    const graph::ValueType& type = node.outputs[0];
    BUDA_ASSIGN(ops::BorderShapes shapes, border_shapes(node, type.shape));
    const SourceSpec& source = problem_.source(q.source);
    auto as_numbers = [&] { return Result(steps_to_numbers(type.shape, *shapes.view.volume() / type.shape[0])); };
    BUDA_ASSIGN(auto steps,
                source.row_numbers ? as_numbers() : at_node(node, steps_to_device(shapes.view, rows_held(type.shape, q, source.shape))));
    std::vector<Transform> on_host = host_steps(shapes, shapes.model, shapes.view);
    steps.insert(steps.begin(), on_host.begin(), on_host.end());
    out_.plan.inputs.push_back(
        {node.name(), std::string(dtype_name(ops::border_type(node, type.dtype))), shapes.model.dims(), q.queue.name, std::move(steps)});
    if (auto sink = problem_.source(q.source).loopback) out_.plan.inputs.back().loopback = graph_.node(problem_.sinks[*sink].node).name();
    out_.plan.inputs.back().fixed_value = graph::fixed_value_of(node);
    out_.plan.inputs.back().value_range = graph::value_range_of(node);
    out_.plan.inputs.back().index_of = graph::index_reader_of(node);
    out_.plan.inputs.back().training = graph::training_of(node);
    if (node.value) add_value(node, q, out_.plan.inputs.back().transforms);
    return success();
  }

  // The user may give it all the same.
  Result<void> add_unread_input(const Node& node) {
    const graph::ValueType& type = node.outputs[0];
    BUDA_ASSIGN(ops::BorderShapes shapes, border_shapes(node, type.shape));
    out_.plan.inputs.push_back({node.name(), std::string(dtype_name(ops::border_type(node, type.dtype))), shapes.model.dims(), "", {}});
    out_.plan.inputs.back().fixed_value = graph::fixed_value_of(node);
    out_.plan.inputs.back().value_range = graph::value_range_of(node);
    out_.plan.inputs.back().index_of = graph::index_reader_of(node);
    out_.plan.inputs.back().training = graph::training_of(node);
    return success();
  }

  Result<void> add_output(const QueuePlan& q, const SinkSpec& sink) {
    const Node& node = graph_.node(sink.node);
    const graph::ValueType& type = graph_.node(problem_.op(sink.op).node).outputs[0];
    BUDA_ASSIGN(ops::BorderShapes shapes, border_shapes(node, type.shape));
    const Shape held = rows_held(type.shape, q, problem_.op(sink.op).out);
    BUDA_ASSIGN(auto steps, at_node(node, steps_from_device(held, shapes.view)));
    const std::vector<Transform> joined = steps_to_whole(held_result(problem_.op(sink.op), q.stream), held);
    steps.insert(steps.begin(), joined.begin(), joined.end());
    std::vector<Transform> on_host = host_steps(shapes, shapes.view, shapes.model);
    steps.insert(steps.end(), on_host.begin(), on_host.end());
    out_.plan.outputs.push_back(
        {node.name(), std::string(dtype_name(ops::border_type(node, type.dtype))), shapes.model.dims(), q.queue.name, std::move(steps)});
    out_.plan.outputs.back().training = graph::training_of(node);
    out_.plan.outputs.back().rows_mixed_by = graph::rows_mixed_by(node);
    return success();
  }

  // What the balancer made of a selection matrix: as it lies in the queue.
  void add_encoded(const QueuePlan& q) {
    host_plan::PlanParameter p;
    p.name = problem_.source(q.source).label;
    p.queue = q.queue.name;
    p.shape = q.encoded->shape().dims();
    p.file = files_.tensors;
    p.tensor = q.queue.name;
    out_.tensors.emplace(p.tensor, *q.encoded);
    out_.plan.parameters.push_back(std::move(p));
  }

  Result<void> add_parameter(const QueuePlan& q) {
    if (q.encoded) {
      add_encoded(q);
      return success();
    }
    const Node& node = graph_.node(problem_.source(q.source).node);
    if (!node.value) {
      Diagnostic d = input_error("BL019", node.loc, cat(node.op(), " '", node.name(), "' has no value"));
      d.node = node.name();
      return d;
    }
    const Tensor& tensor = node.value->tensor;
    BUDA_ASSIGN(auto steps,
                at_node(node, steps_to_device(tensor.shape(), rows_held(node.outputs[0].shape, q, problem_.source(q.source).shape))));
    add_value(node, q, std::move(steps));
    return success();
  }

  // Of a parameter or constant, or the first one of a state.
  void add_value(const Node& node, const QueuePlan& q, std::vector<Transform> steps) {
    const Tensor& tensor = node.value->tensor;
    host_plan::PlanParameter p;
    p.name = node.name();
    p.queue = q.queue.name;
    p.shape = tensor.shape().dims();
    p.transforms = std::move(steps);
    if (is_written(node)) {
      p.file = files_.tensors;
      p.tensor = node.name() == kReservedTensorName ? cat(node.name(), ".value") : node.name();
      out_.tensors.emplace(p.tensor, tensor);
    } else {
      const graph::TensorSource& source = *node.value->source;
      p.file = files_.relative(source.path);
      p.tensor = source.name;
      if (source.raw) {
        p.dtype = dtype_name(tensor.dtype());
        p.offset = source.raw->offset;
        p.file_size = source.raw->file_size;
        p.hex = source.raw->hex;
      }
    }
    out_.plan.parameters.push_back(std::move(p));
  }

  // Does any tensor lack a file? Then the file that takes it may replace one that others refer to.
  void find_replaced() {
    for (const SourceSpec& s : problem_.sources) {
      if (s.encoded != EncodedPart::none) any_new_ = true;
      const Node& node = graph_.node(s.node);
      if (node.value && !node.value->source) any_new_ = true;
    }
  }
  bool is_written(const Node& node) const {
    const auto& source = node.value->source;
    return !source || (any_new_ && files_.is_replaced(source->path));
  }

  const Graph& graph_;
  const Problem& problem_;
  const QueueSet& queues_;
  const PlanFiles& files_;
  std::map<graph::NodeId, const QueuePlan*> of_inputs_;
  std::vector<const QueuePlan*> of_outputs_;  // as sinks
  bool any_new_ = false;
  BuiltPlan out_;
  Failure failure_;
};

}  // namespace

Result<std::vector<Transform>> steps_to_device(const Shape& model, const Shape& device) {
  std::vector<Transform> out;
  BUDA_ASSIGN(Shape four, ops::four_axes(model));
  // Rows that small tiles do not hold are read by nobody.
  const bool cuts = device.rank() == 4 && device[2] < graph::kTileSide && four[2] > device[2];
  Shape kept = four;
  if (cuts) kept[2] = device[2];
  std::vector<std::int64_t> added;
  bool pads = false, lies = device.rank() == 4;
  for (std::size_t i = 0; i < 4 && lies; ++i) {
    added.push_back(device[i] - kept[i]);
    pads = pads || added[i] != 0;
    lies = added[i] >= 0 && (i >= 2 || added[i] == 0);
  }
  if (!lies)
    return input_error("BL018", {},
                       cat("the model's shape ", model.text(), ", ", four.text(), " in four axes, does not fit in ", device.text(),
                           ": w and z have to be equal, r and c may be larger"));
  if (four != model) out.push_back({TransformKind::reshape, four.dims(), 0});
  if (cuts) out.push_back({TransformKind::narrow, kept.dims(), 0});
  if (pads) out.push_back({TransformKind::pad, std::move(added), 0});
  return out;
}

Result<std::vector<Transform>> steps_from_device(const Shape& device, const Shape& model) {
  BUDA_TRY(steps_to_device(model, device));
  BUDA_ASSIGN(Shape four, ops::four_axes(model));
  std::vector<Transform> out;
  if (four != device) out.push_back({TransformKind::narrow, four.dims(), 0});
  if (four != model) out.push_back({TransformKind::reshape, model.dims(), 0});
  return out;
}

std::vector<Transform> steps_to_whole(const HeldResult& held, const Shape& whole) {
  const std::int64_t parts = held.stream.parts;
  if (whole.rank() != 4 || (parts == 1 && !held.below)) return {};
  const Transform joined{TransformKind::reshape, whole.dims(), 0};
  if (parts == 1) return {joined};
  auto reordered = [&](std::vector<std::int64_t> split, std::vector<std::int64_t> order) -> std::vector<Transform> {
    return {{TransformKind::reshape, std::move(split), 0}, {TransformKind::transpose, std::move(order), 0}, joined};
  };
  switch (held.stream.direction) {
    case StreamDirection::r:
      if (whole[1] == 1) break;
      return reordered({whole[0], parts, whole[1], whole[2] / parts, whole[3]}, {0, 2, 1, 3, 4});
    case StreamDirection::c:
      return reordered({whole[0], parts, whole[1], whole[2], whole[3] / parts}, {0, 2, 3, 1, 4});
    case StreamDirection::cz:
      return reordered({whole[0], whole[1], parts, whole[2], whole[3] / parts}, {0, 1, 3, 2, 4});
    case StreamDirection::rz:
    case StreamDirection::none:
      break;
  }
  // Parts of rows of one matrix follow each other as in the whole.
  return {joined};
}

Result<BuiltPlan> build_plan(const Graph& graph, const Problem& problem, const QueueSet& queues, const PlanFiles& files) {
  return HostPlanBuilder(graph, problem, queues, files).run();
}

}  // namespace buda::balance
