// SPDX-License-Identifier: Apache-2.0
// Building graphs call by call.
#include <buda/ops/whole_graph/builder.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <algorithm>

namespace buda::ops {

using graph::Graph;
using graph::NodeId;

Builder::Builder(std::string graph_name, Level level) : own_(std::make_unique<Graph>(std::move(graph_name), level)), graph_(own_.get()) {}
Builder::Builder(graph::GraphEditor& editor) : graph_(&editor.graph()), editor_(&editor) {}
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;
Builder::~Builder() = default;

graph::Node& Builder::node(Ref value) { return graph_->node(value.node); }

Builder& Builder::named(std::string name) {
  next_name_ = std::move(name);
  return *this;
}

std::string Builder::take_name(std::string_view fallback) {
  std::string name = next_name_.empty() ? std::string(fallback) : std::move(next_name_);
  next_name_.clear();
  return name;
}

Builder::Ref Builder::fail(const std::string& node_name, Failure failure) {
  for (auto& d : failure.diagnostics()) {
    d.message = cat("node '", node_name, "': ", d.message);
    d.node = node_name;
  }
  failure_.add(std::move(failure));
  return {};
}

// ---- sources and outputs

Builder::Ref Builder::source(std::string_view kind, std::string name, ValueType type) {
  if (editor_ == nullptr && graph_->find(name).valid()) return fail(name, input_error("GR020", {}, "the name is given twice"));
  Shape model = type.shape;
  if (graph_->level == Level::device) {
    auto padded = tiled_shape(type.shape);
    if (!padded) return fail(name, std::move(padded).failure());
    type.shape = std::move(*padded);
  }
  NodeId id = editor_ != nullptr ? editor_->add(name, std::string(kind), {}, {type}) : graph_->add(std::move(name), std::string(kind));
  graph_->node(id).outputs = {std::move(type)};
  if (graph_->level == Level::device && graph_->node(id).kind() == graph::NodeKind::input)
    graph_->node(id).attrs[std::string(kModelShape)] = model.dims();
  return id;
}

Builder::Ref Builder::valued(std::string_view kind, std::string name, Tensor tensor) {
  Ref ref = source(kind, std::move(name), {tensor.dtype(), tensor.shape(), std::nullopt});
  if (ref.valid()) graph_->node(ref.node).value = graph::Value(std::move(tensor));
  return ref;
}

Builder::Ref Builder::input(std::string name, Shape shape, DType dtype) {
  return source(graph::kInputOp, std::move(name), {dtype, std::move(shape), std::nullopt});
}

Builder::Ref Builder::parameter(std::string name, Tensor tensor) { return valued(graph::kParameterOp, std::move(name), std::move(tensor)); }

Builder::Ref Builder::constant(Tensor tensor) {
  std::string name = take_name("constant");
  return valued(graph::kConstantOp, graph_->fresh_name(name), std::move(tensor));
}

Builder::Ref Builder::constant(float scalar) { return constant(Tensor::scalar(scalar)); }
Builder::Ref Builder::constant(double scalar, DType dtype) { return constant(Tensor::scalar(scalar).cast(dtype)); }

template <class T>
Builder::Ref Builder::constant(const Shape& shape, std::vector<T> elements) {
  return constant(Tensor(shape, std::move(elements)));
}
template <class T>
Builder::Ref Builder::constant(const Shape& shape, std::vector<T> elements, DType dtype) {
  return constant(Tensor(shape, std::move(elements)).cast(dtype));
}
#define BUDA_CONSTANT_OF(T)                                              \
  template Builder::Ref Builder::constant(const Shape&, std::vector<T>); \
  template Builder::Ref Builder::constant(const Shape&, std::vector<T>, DType);
BUDA_CONSTANT_OF(float)
BUDA_CONSTANT_OF(double)
BUDA_CONSTANT_OF(std::int32_t)
BUDA_CONSTANT_OF(std::int64_t)
#undef BUDA_CONSTANT_OF

void Builder::output(std::string name, Edge value) {
  if (!value.source.valid()) return;
  if (graph_->find_output(name).valid()) {
    fail(name, input_error("GR020", {}, "the name is given to two outputs"));
    return;
  }
  graph_->add(std::move(name), std::string(graph::kOutputOp), {std::move(value)});
}

void Builder::output(std::string name, Edge value, const Shape& model_shape) {
  output(name, std::move(value));
  NodeId id = graph_->find_output(name);
  if (id.valid()) graph_->node(id).attrs[std::string(kModelShape)] = model_shape.dims();
}

// ---- operations

Builder::Ref Builder::op(std::string_view op_name, std::vector<Edge> inputs, AttrMap attrs) {
  bool explicit_name = !next_name_.empty();
  std::string name = take_name(op_name);
  std::vector<ValueType> arriving;
  for (const auto& edge : inputs) {
    if (!edge.source.valid()) return {};
    auto type = graph_->type(edge);
    if (!type) return fail(name, std::move(type).failure());
    arriving.push_back(std::move(*type));
  }
  auto def = standard_ops().require(graph_->level, op_name);
  if (!def) return fail(name, std::move(def).failure());
  auto types = infer(**def, arriving, attrs);
  if (!types) return fail(name, std::move(types).failure());
  if (editor_ != nullptr) return editor_->add(name, std::string(op_name), std::move(inputs), std::move(*types), std::move(attrs));
  if (explicit_name && graph_->find(name).valid()) return fail(name, input_error("GR020", {}, "the name is given twice"));
  NodeId id = graph_->add(graph_->fresh_name(name), std::string(op_name), std::move(inputs));
  graph_->node(id).outputs = std::move(*types);
  graph_->node(id).attrs = std::move(attrs);
  return id;
}

Builder::Ref Builder::matmul(Edge a, Edge b) { return op("matmul", {std::move(a), std::move(b)}); }
Builder::Ref Builder::matmul(Edge a, Edge b, Edge bias) {
  AttrMap attrs;
  if (graph_->level == Level::device) attrs["bias"] = true;
  return op("matmul", {std::move(a), std::move(b), std::move(bias)}, std::move(attrs));
}
Builder::Ref Builder::gemm(Edge a, Edge b, Edge c, AttrMap attrs) {
  return op("gemm", {std::move(a), std::move(b), std::move(c)}, std::move(attrs));
}
Builder::Ref Builder::add(Edge a, Edge b) { return op("add", {std::move(a), std::move(b)}); }
Builder::Ref Builder::subtract(Edge a, Edge b) { return op("subtract", {std::move(a), std::move(b)}); }
Builder::Ref Builder::multiply(Edge a, Edge b) { return op("multiply", {std::move(a), std::move(b)}); }
Builder::Ref Builder::divide(Edge a, Edge b) { return op("divide", {std::move(a), std::move(b)}); }
Builder::Ref Builder::maximum(Edge a, Edge b) { return op("maximum", {std::move(a), std::move(b)}); }
Builder::Ref Builder::minimum(Edge a, Edge b) { return op("minimum", {std::move(a), std::move(b)}); }
Builder::Ref Builder::power(Edge a, Edge b) { return op("power", {std::move(a), std::move(b)}); }

Builder::Ref Builder::reduce_sum(Edge a, Dims dims, bool keep_dims) {
  return op("reduce_sum", {std::move(a)}, {{"dims", std::move(dims)}, {"keep_dims", keep_dims}});
}
Builder::Ref Builder::reduce_avg(Edge a, Dims dims, bool keep_dims) {
  return op("reduce_avg", {std::move(a)}, {{"dims", std::move(dims)}, {"keep_dims", keep_dims}});
}
Builder::Ref Builder::reduce_max(Edge a, Dims dims, bool keep_dims) {
  return op("reduce_max", {std::move(a)}, {{"dims", std::move(dims)}, {"keep_dims", keep_dims}});
}
Builder::Ref Builder::reduce_min(Edge a, Dims dims, bool keep_dims) {
  return op("reduce_min", {std::move(a)}, {{"dims", std::move(dims)}, {"keep_dims", keep_dims}});
}
Builder::Ref Builder::buffer(Edge a) { return op("buffer", {std::move(a)}); }
Builder::Ref Builder::identity(Edge a) { return op("nop", {std::move(a)}); }

Builder::Ref Builder::reshape(Edge a, Shape shape) { return op("reshape", {std::move(a)}, {{"shape", shape.dims()}}); }
Builder::Ref Builder::transpose(Edge a, Dims permutation) { return op("transpose", {std::move(a)}, {{"perm", std::move(permutation)}}); }
Builder::Ref Builder::squeeze(Edge a, Dims dims) { return op("squeeze", {std::move(a)}, {{"dims", std::move(dims)}}); }
Builder::Ref Builder::unsqueeze(Edge a, Dims dims) { return op("unsqueeze", {std::move(a)}, {{"dims", std::move(dims)}}); }
Builder::Ref Builder::broadcast(Edge a, Shape shape) { return op("broadcast", {std::move(a)}, {{"shape", shape.dims()}}); }
Builder::Ref Builder::slice(Edge a, std::int64_t dim, std::int64_t start, std::int64_t stop, std::int64_t step) {
  return op("slice", {std::move(a)}, {{"dims", Dims{dim}}, {"starts", Dims{start}}, {"stops", Dims{stop}}, {"steps", Dims{step}}});
}
Builder::Ref Builder::concatenate(std::vector<Edge> parts, std::int64_t dim) { return op("concatenate", std::move(parts), {{"dim", dim}}); }
Builder::Ref Builder::pad(Edge a, Dims before, Dims after, double value) {
  return op("pad", {std::move(a)}, {{"before", std::move(before)}, {"after", std::move(after)}, {"value", value}});
}

Builder::Ref Builder::relu(Edge a) { return op("relu", {std::move(a)}); }
Builder::Ref Builder::leaky_relu(Edge a, double alpha) { return op("leaky_relu", {std::move(a)}, {{"alpha", alpha}}); }
Builder::Ref Builder::gelu(Edge a, std::string approximate) {
  AttrMap attrs;
  if (approximate != "none") attrs["approximate"] = std::move(approximate);
  return op("gelu", {std::move(a)}, std::move(attrs));
}
Builder::Ref Builder::sigmoid(Edge a) { return op("sigmoid", {std::move(a)}); }
Builder::Ref Builder::tanh(Edge a) { return op("tanh", {std::move(a)}); }
Builder::Ref Builder::exp(Edge a) { return op("exp", {std::move(a)}); }
Builder::Ref Builder::log(Edge a) { return op("log", {std::move(a)}); }
Builder::Ref Builder::sqrt(Edge a) { return op("sqrt", {std::move(a)}); }
Builder::Ref Builder::reciprocal(Edge a) { return op("reciprocal", {std::move(a)}); }
Builder::Ref Builder::abs(Edge a) { return op("abs", {std::move(a)}); }
Builder::Ref Builder::negative(Edge a) { return op("negative", {std::move(a)}); }
Builder::Ref Builder::square(Edge a) { return op("square", {std::move(a)}); }
Builder::Ref Builder::clip(Edge a, double least, double most) { return op("clip", {std::move(a)}, {{"min", least}, {"max", most}}); }

Builder::Ref Builder::softmax(Edge a, std::int64_t dim) { return op("softmax", {std::move(a)}, {{"dim", dim}}); }
Builder::Ref Builder::log_softmax(Edge a, std::int64_t dim) { return op("log_softmax", {std::move(a)}, {{"dim", dim}}); }
Builder::Ref Builder::layernorm(Edge a, Edge weights, Edge bias, double epsilon) {
  return op("layernorm", {std::move(a), std::move(weights), std::move(bias)}, {{"epsilon", epsilon}});
}

Builder::Ref Builder::conv2d(Edge a, Edge weights, AttrMap attrs) {
  return op("conv2d", {std::move(a), std::move(weights)}, std::move(attrs));
}
Builder::Ref Builder::conv2d(Edge a, Edge weights, Edge bias, AttrMap attrs) {
  return op("conv2d", {std::move(a), std::move(weights), std::move(bias)}, std::move(attrs));
}
Builder::Ref Builder::conv2d_transpose(Edge a, Edge weights, AttrMap attrs) {
  return op("conv2d_transpose", {std::move(a), std::move(weights)}, std::move(attrs));
}
Builder::Ref Builder::max_pool2d(Edge a, Dims kernel, AttrMap attrs) {
  attrs["kernel"] = std::move(kernel);
  return op("max_pool2d", {std::move(a)}, std::move(attrs));
}
Builder::Ref Builder::avg_pool2d(Edge a, Dims kernel, AttrMap attrs) {
  attrs["kernel"] = std::move(kernel);
  return op("avg_pool2d", {std::move(a)}, std::move(attrs));
}

// ---- the end

Result<void> Builder::status() const {
  if (!failure_.empty()) return failure_;
  return success();
}

Result<Graph> Builder::finish() {
  BUDA_TRY(status());
  if (own_ == nullptr) return internal_error("finish() of a Builder that has no graph of its own");
  BUDA_TRY(check(*own_));
  Graph graph = std::move(*own_);
  own_.reset();
  graph_ = nullptr;
  return graph;
}

}  // namespace buda::ops
