// SPDX-License-Identifier: Apache-2.0
// Arguments as attributes, and transposes around.
#include <buda/ops/whole_graph/windows.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/graph.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::ops {
namespace {

using Edge = Builder::Edge;
using Ref = Builder::Ref;
using Dims = Builder::Dims;

// One number is for both axes; lists of another length are refused by the operation.
Dims for_both(const Dims& numbers) { return numbers.size() == 1 ? Dims{numbers[0], numbers[0]} : numbers; }

// Sizes along rows and columns; none where there are none, which the operation refuses.
Dims rows_and_columns(Builder& b, const Edge& value, std::size_t first) {
  const graph::ValueType* type = value.source.valid() ? b.graph().type(value.source) : nullptr;
  if (type == nullptr || type->shape.rank() != 4) return {};
  return {type->shape[first], type->shape[first + 1]};
}

// What a window over `size` elements takes in all so that there are ceil(size / stride) of it, or that of a result cut from a transposed
// one.
std::int64_t padding_in_all(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation, bool transposed) {
  const std::int64_t span = (kernel - 1) * dilation + 1;
  return transposed ? span - stride : std::max<std::int64_t>((ceil_div(size, stride) - 1) * stride + span - size, 0);
}

Dims sides(const Windows& windows, const Dims& sizes, const Dims& kernel, bool transposed) {
  const Padding& padding = windows.padding;
  const Dims& given = padding.sizes;
  if (!padding.keeps_size) {
    if (given.size() == 1) return Dims(4, given[0]);
    if (given.size() == 4) return {given[2], given[0], given[3], given[1]};
    return given.size() == 2 ? Dims{given[0], given[1], given[0], given[1]} : given;
  }
  const Dims stride = for_both(windows.stride), dilation = for_both(windows.dilation);
  if (stride.size() != 2 || dilation.size() != 2 || kernel.size() != 2 || sizes.size() != 2 || std::min(stride[0], stride[1]) < 1)
    return {};
  Dims out(4);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t all = padding_in_all(sizes[axis], kernel[axis], stride[axis], dilation[axis], transposed);
    out[axis] = all / 2;
    out[axis + 2] = all - all / 2;
  }
  return out;
}

AttrMap window_attributes(const Windows& windows, const Dims& sizes, const Dims& kernel, bool transposed) {
  return {{"stride", for_both(windows.stride)},
          {"dilation", for_both(windows.dilation)},
          {"padding", sides(windows, sizes, kernel, transposed)}};
}

Edge channels_first(Builder& b, Edge activations, const Windows& windows) {
  return windows.channel_last ? Edge(b.transpose(activations, {0, 3, 1, 2})) : activations;
}

Ref back(Builder& b, Ref result, const Windows& windows) { return windows.channel_last ? b.transpose(result, {0, 2, 3, 1}) : result; }

Ref convolved(Builder& b, bool transposed, Edge activations, Edge weights, const std::optional<Edge>& bias, const Windows& windows) {
  const Dims sizes = rows_and_columns(b, activations, windows.channel_last ? 1 : 2);
  AttrMap attributes = window_attributes(windows, sizes, rows_and_columns(b, weights, 2), transposed);
  attributes.insert_or_assign("groups", windows.groups);
  std::vector<Edge> inputs{channels_first(b, activations, windows), weights};
  if (bias) inputs.push_back(*bias);
  return back(b, b.op(transposed ? "conv2d_transpose" : "conv2d", std::move(inputs), std::move(attributes)), windows);
}

Ref pooled(Builder& b, std::string_view op, Edge activations, const Dims& kernel, const Windows& windows, AttrMap more) {
  const Dims both = for_both(kernel);
  AttrMap attributes = window_attributes(windows, rows_and_columns(b, activations, windows.channel_last ? 1 : 2), both, false);
  attributes.insert_or_assign("kernel", both);
  attributes.insert_or_assign("ceil_mode", windows.ceil_mode);
  for (auto& [name, value] : more) attributes.insert_or_assign(name, value);
  const Edge input = channels_first(b, activations, windows);
  return back(b, b.op(op, {input}, std::move(attributes)), windows);
}

}  // namespace

Padding Padding::same() {
  Padding out;
  out.keeps_size = true;
  return out;
}

Ref conv2d(Builder& b, Edge activations, Edge weights, std::optional<Edge> bias, const Windows& windows) {
  return convolved(b, false, activations, weights, bias, windows);
}

Ref conv2d_transpose(Builder& b, Edge activations, Edge weights, std::optional<Edge> bias, const Windows& windows) {
  return convolved(b, true, activations, weights, bias, windows);
}

Ref max_pool2d(Builder& b, Edge activations, Dims kernel, const Windows& windows) {
  return pooled(b, "max_pool2d", activations, kernel, windows, {});
}

Ref avg_pool2d(Builder& b, Edge activations, Dims kernel, const Windows& windows) {
  return pooled(b, "avg_pool2d", activations, kernel, windows,
                {{"count_include_pad", windows.count_include_pad}, {"divisor_override", windows.divisor_override}});
}

Ref layernorm(Builder& b, Edge a, Edge weights, Edge bias, std::int64_t dim, double epsilon) {
  const graph::ValueType* type = a.source.valid() ? b.graph().type(a.source) : nullptr;
  const auto rank = type == nullptr ? 0 : static_cast<std::int64_t>(type->shape.rank());
  const std::int64_t axis = dim < 0 ? dim + rank : dim;
  if (rank == 0 || axis == rank - 1) return b.layernorm(a, weights, bias, epsilon);
  // Exchanged with the last axis, and back. An axis that is none is refused by the transpose.
  Dims exchange(static_cast<std::size_t>(rank));
  std::iota(exchange.begin(), exchange.end(), std::int64_t{0});
  exchange.back() = axis;
  if (axis >= 0 && axis < rank) exchange[static_cast<std::size_t>(axis)] = rank - 1;
  return b.transpose(b.layernorm(b.transpose(a, exchange), weights, bias, epsilon), exchange);
}

}  // namespace buda::ops
