// SPDX-License-Identifier: Apache-2.0
// Building graphs in C++: one call per operation, types derived on the way.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/level.hpp>
#include <buda/graph/node.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

// A new graph:                                    Or inside a rewrite, with names and provenance of the node being replaced:
//   Builder b("mlp");                               GraphEditor editor(graph, node);
//   auto x = b.input("x", {1, 64});                 Builder b(editor);
//   auto w = b.parameter("w", tensor);              auto e = b.exp(b.subtract(x, m));
//   b.output("y", b.relu(b.matmul(x, w)));          BUDA_TRY(b.status());
//   Result<Graph> graph = b.finish();               editor.replace(node, e.node);
//
// C++ does not say which argument of a call is computed first. Where the order of nodes (and so that of a file) should be the same with
// every compiler, at most one argument of a call makes new nodes.
//
// Errors are kept until finish() or status(): a call that fails gives an invalid value, and calls on invalid values do nothing.
class Builder {  // wide because it has a method for each operation
 public:
  using Edge = graph::Edge;
  using Ref = graph::ValueRef;
  using Dims = std::vector<std::int64_t>;

  explicit Builder(std::string graph_name, Level level = Level::tensor);
  explicit Builder(graph::GraphEditor& editor);
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  // The name of the next node that is made (in a rewrite: its suffix), so not for calls whose arguments make nodes too. Without it a
  // node is called after its op.
  Builder& named(std::string name);

  // A name given twice is an error. At device level shapes here are the model's, and types become the padded ones (device_layout.hpp);
  // an output without a model shape is the whole padded value.
  Ref input(std::string name, Shape shape, DType dtype = DType::f32);
  Ref parameter(std::string name, Tensor tensor);
  Ref constant(Tensor tensor);
  Ref constant(float scalar);
  Ref constant(double scalar, DType dtype);
  // Elements in row-major order, as many as the shape says, converted to `dtype` if it is given. For float, double, std::int32_t and
  // std::int64_t. With these, and not with a Tensor, a rule does without <buda/tensor/tensor.hpp>.
  template <class T>
  Ref constant(const Shape& shape, std::vector<T> elements);
  template <class T>
  Ref constant(const Shape& shape, std::vector<T> elements, DType dtype);
  void output(std::string name, Edge value);
  void output(std::string name, Edge value, const Shape& model_shape);

  // Any operation of the registry. The first result; others are Ref(node, 1), ….
  Ref op(std::string_view op_name, std::vector<Edge> inputs, AttrMap attrs = {});

  // General
  Ref matmul(Edge a, Edge b);
  Ref matmul(Edge a, Edge b, Edge bias);
  Ref gemm(Edge a, Edge b, Edge c, AttrMap attrs = {});
  Ref add(Edge a, Edge b);
  Ref subtract(Edge a, Edge b);
  Ref multiply(Edge a, Edge b);
  Ref divide(Edge a, Edge b);
  Ref maximum(Edge a, Edge b);
  Ref minimum(Edge a, Edge b);
  Ref power(Edge a, Edge b);
  Ref reduce_sum(Edge a, Dims dims, bool keep_dims = true);
  Ref reduce_avg(Edge a, Dims dims, bool keep_dims = true);
  Ref reduce_max(Edge a, Dims dims, bool keep_dims = true);
  Ref reduce_min(Edge a, Dims dims, bool keep_dims = true);
  Ref identity(Edge a);
  Ref buffer(Edge a);              // an identity that stays
  Ref heaviside(Edge a, Edge at);  // 0 where a is negative, 1 where it is positive, `at` where it is 0
  // Transformations
  Ref reshape(Edge a, Shape shape);
  Ref transpose(Edge a, Dims permutation);
  Ref squeeze(Edge a, Dims dims);
  Ref unsqueeze(Edge a, Dims dims);
  Ref broadcast(Edge a, Shape shape);
  Ref slice(Edge a, std::int64_t dim, std::int64_t start, std::int64_t stop, std::int64_t step = 1);
  Ref concatenate(std::vector<Edge> parts, std::int64_t dim);
  Ref pad(Edge a, Dims before, Dims after, double value = 0);
  Ref index(Edge a, std::int64_t dim, std::int64_t start, std::optional<std::int64_t> stop = {}, std::int64_t stride = 1);
  // `length` elements from `start` on; with a stride those, and as many at that distance from the first, and so on to the end.
  Ref select(Edge a, std::int64_t dim, std::int64_t start, std::int64_t length = 1, std::int64_t stride = 0);
  // a[0], b[0], a[1], b[1], … along an axis.
  Ref binary_stack(Edge a, Edge b, std::int64_t dim);
  // Between the last three axes z, r, c: columns (rows) are cut into slices that become matrices of z, and the way back; -1: all of z.
  Ref hslice(Edge a, std::int64_t slices);
  Ref hstack(Edge a, std::int64_t slices = -1);
  Ref vslice(Edge a, std::int64_t slices);
  Ref vstack(Edge a, std::int64_t slices = -1);
  // Activations and mathematics
  Ref relu(Edge a);
  // min: what is not above the threshold becomes 0; max: clamped to 0…threshold.
  Ref relu(Edge a, double threshold, std::string_view mode = "min");
  // The index (I64) of the largest element along an axis, which is kept; without one, of all elements.
  Ref argmax(Edge a, std::optional<std::int64_t> dim = {});
  Ref leaky_relu(Edge a, double alpha);
  Ref gelu(Edge a, std::string approximate = "none");
  Ref sigmoid(Edge a);
  Ref tanh(Edge a);
  Ref exp(Edge a);
  Ref log(Edge a);
  Ref sqrt(Edge a);
  Ref reciprocal(Edge a);
  Ref abs(Edge a);
  Ref negative(Edge a);
  Ref square(Edge a);
  Ref clip(Edge a, double least, double most);
  // Neural networks
  Ref softmax(Edge a, std::int64_t dim);
  Ref log_softmax(Edge a, std::int64_t dim);
  Ref layernorm(Edge a, Edge weights, Edge bias, double epsilon = 1e-5);
  // Convolutions and pools on [samples, channels, rows, columns]; attributes are those of the operation:
  // b.conv2d(x, w, {{"stride", Dims{2, 2}}}).
  Ref conv2d(Edge a, Edge weights, AttrMap attrs = {});
  Ref conv2d(Edge a, Edge weights, Edge bias, AttrMap attrs = {});
  Ref conv2d_transpose(Edge a, Edge weights, AttrMap attrs = {});
  Ref max_pool2d(Edge a, Dims kernel, AttrMap attrs = {});
  Ref avg_pool2d(Edge a, Dims kernel, AttrMap attrs = {});

  // For attributes, tags and the like of what was just built. The value must be valid.
  graph::Node& node(Ref value);
  graph::Graph& graph() { return *graph_; }

  Result<void> status() const;
  // The graph, if nothing failed and it is sound. Only for a Builder that made its own graph, once.
  Result<graph::Graph> finish();

 private:
  Ref fail(const std::string& node_name, Failure failure);
  Ref refuse(std::string_view op_name, std::string message);
  const Shape* shape_of(const Edge& edge) const;
  Ref between_z_and_columns(std::string_view name, Edge a, std::int64_t slices, bool slice);
  Ref between_z_and_rows(std::string_view name, Edge a, std::int64_t slices, bool slice);
  std::string take_name(std::string_view fallback);
  Ref source(std::string_view kind, std::string name, ValueType type);
  Ref valued(std::string_view kind, std::string name, Tensor tensor);

  std::unique_ptr<graph::Graph> own_;
  graph::Graph* graph_;
  graph::GraphEditor* editor_ = nullptr;
  std::string next_name_;
  Failure failure_;
};

}  // namespace buda::ops

#pragma GCC visibility pop
