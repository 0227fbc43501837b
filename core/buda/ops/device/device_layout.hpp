// SPDX-License-Identifier: Apache-2.0
// How the model's tensors sit in the padded 4-D values of a device graph, and what TMs do to such values.
//
// At device level a value has the shape (w, z, r, c) with r and c whole tiles, and its padding is part of it: an op computes on padding as
// on anything else, so a graph in which padding could reach a result masks it (a softmax over 10 classes adds a constant that is very
// negative in columns 10 to 31 before its maximum). Only the graph's border knows the model's shapes:
//
//   input, output      attribute `model_shape`: the shape of what the user pushes or pops; and where the host reshapes it on its way in or
//                      out `view_shape`: the shape that replaces it below. The elements are the same, in row-major order, or,
//                      with `view_split` and `view_order`, those of the value reshaped to view_split and transposed by view_order
//                      and attribute `model_type`: the element type there, when it is another than the value's (integers and truth
//                      values are floating-point numbers on the device)
//   parameter, constant  the value keeps the model's shape and, when that is a floating-point type, its element type; the node's type is
//   the
//                      padded one
//
// A model shape is read as 4-D by putting 1s before it; more than four axes have all but the last three merged into w. Then r and c are
// filled up to the node's type with zeros at their ends. An output is read back from the corner.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/tm.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>
#include <buda/tensor/shape.hpp>

#include <string_view>
#include <vector>

namespace buda::ops {

inline constexpr std::string_view kModelShape = "model_shape";  // integers; on inputs and outputs of device graphs
inline constexpr std::string_view kViewShape = "view_shape";    // likewise; absent: the model's shape
inline constexpr std::string_view kViewSplit = "view_split";    // likewise; absent: nothing is transposed
inline constexpr std::string_view kViewOrder = "view_order";    // likewise; axis i of the transposed value is axis view_order[i]
inline constexpr std::string_view kModelType = "model_type";    // text; likewise; absent: the value's element type

// The two shapes of an input or output of a device graph, whose value has the shape `device`: without attributes it is that one.
struct BorderShapes {
  Shape model;
  Shape view;
  Shape split;
  std::vector<std::int64_t> order;
  bool transposes() const { return !order.empty(); }
};
// What the host does between the model and a device graph: an input on its way in, an output on its way out.
Result<Tensor> into_view(const Tensor& model, const BorderShapes& shapes);
Result<Tensor> out_of_view(const Tensor& view, const BorderShapes& shapes);
// An error when the attributes contradict each other.
Result<void> check_border(const BorderShapes& shapes);
BorderShapes border_shapes(const graph::Node& node, const Shape& device);
// And the element type of the model's tensor there.
DType border_type(const graph::Node& node, DType device);
// A result of the device in the model's element type: the nearest integer where that is an integer type, since what the device
// computes may be a little off.
Tensor in_model_type(const Tensor& value, DType model);

// The four sizes that a model shape stands for, without padding; an error when they do not fit in 63 bits.
Result<Shape> four_axes(const Shape& model_shape);
// The same with r and c rounded up to whole tiles (graph/tile_count.hpp): the type of a lowered value.
Result<Shape> tiled_shape(const Shape& model_shape);

// A model's tensor as the device value of the given shape.
Result<Tensor> to_device(const Tensor& model, const Shape& device);
// The way back: the corner of a device value, under the model's shape.
Result<Tensor> from_device(const Tensor& device, const Shape& model_shape);

// The manipulations of an edge, from left to right, on a 4-D tensor of any element type.
Result<Tensor> apply_tms(const Tensor& value, const std::vector<graph::Tm>& tms);

}  // namespace buda::ops
