// SPDX-License-Identifier: Apache-2.0
// Operations that move elements and compute nothing, on any element type: reshape, transpose, squeeze, unsqueeze, broadcast, slice,
// concatenate, pad. At device level the same is done on edges (graph/tm.hpp).
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/movement/splice.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <limits>

namespace buda::ops {
namespace {

Result<std::vector<Tensor>> evaluate_same_elements(const EvaluateCall& call) {
  return one_tensor(call.inputs[0].reshaped(call.outputs[0].shape));
}

// ---- reshape, squeeze, unsqueeze

Result<std::vector<ValueType>> infer_reshape(const InferCall& call) {
  const Shape& in = call.inputs[0].shape;
  Shape out(call.attrs.integers("shape"));
  std::optional<std::size_t> open;
  Shape known;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    if (out[i] == -1) {
      if (open) return shape_error(cat("the shape ", out.text(), " has more than one size of -1"));
      open = i;
    } else {
      known.push_back(out[i]);
    }
  }
  auto volume = in.volume(), rest = known.volume();
  if (!rest) return shape_error(cat("the shape ", out.text(), " is impossible"));
  if (open && *rest != 0 && *volume % *rest == 0) out[*open] = *volume / *rest;
  if (out.volume() != volume)
    return shape_error(cat("a value of shape ", in.text(), " has ", *volume, " elements and cannot take the shape ", out.text()));
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<ValueType>> infer_squeeze(const InferCall& call) {
  const Shape& in = call.inputs[0].shape;
  std::vector<std::size_t> axes;
  if (!call.attrs.integers("dims").empty()) {
    BUDA_ASSIGN(axes, resolved_axes(in, call.attrs.integers("dims")));
  }
  Shape out;
  for (std::size_t i = 0; i < in.rank(); ++i) {
    bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (named && in[i] != 1)
      return shape_error(cat("axis ", i, " of ", in.text(), " has size ", in[i], "; only axes of size 1 can be removed"));
    if (!named && (!axes.empty() || in[i] != 1)) out.push_back(in[i]);
  }
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<ValueType>> infer_unsqueeze(const InferCall& call) {
  const Shape& in = call.inputs[0].shape;
  const auto& dims = call.attrs.integers("dims");
  if (dims.empty()) return one(call.inputs[0].dtype, in);
  // Axes are those of the result.
  BUDA_ASSIGN(std::vector<std::size_t> axes, resolved_axes(Shape(std::vector<std::int64_t>(in.rank() + dims.size(), 1)), dims));
  Shape out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < in.rank() + dims.size(); ++i) out.push_back(std::binary_search(axes.begin(), axes.end(), i) ? 1 : in[next++]);
  return one(call.inputs[0].dtype, std::move(out));
}

// ---- transpose, broadcast

Result<std::vector<std::size_t>> permutation(const Shape& in, const Attrs& attrs) {
  const auto& perm = attrs.integers("perm");
  std::vector<std::size_t> axes;
  std::vector<char> seen(in.rank(), 0);
  for (std::int64_t dim : perm) {
    BUDA_ASSIGN(std::size_t axis, resolved_axis(in, dim));
    if (seen[axis]++ != 0) return shape_error(cat("axis ", dim, " occurs twice in the permutation ", list_text(perm)));
    axes.push_back(axis);
  }
  if (axes.size() != in.rank())
    return shape_error(cat("the permutation ", list_text(perm), " must name every axis of ", in.text(), " once"));
  return axes;
}

Result<std::vector<ValueType>> infer_transpose(const InferCall& call) {
  BUDA_ASSIGN(std::vector<std::size_t> axes, permutation(call.inputs[0].shape, call.attrs));
  Shape out;
  for (std::size_t axis : axes) out.push_back(call.inputs[0].shape[axis]);
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_transpose(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::vector<std::size_t> axes, permutation(in.shape(), call.attrs));
  std::vector<std::int64_t> own = in.shape().strides(), strides;
  for (std::size_t axis : axes) strides.push_back(own[axis]);
  return one_tensor(gathered(in, call.outputs[0].shape, 0, strides, call.threads));
}

Result<std::vector<ValueType>> infer_broadcast(const InferCall& call) {
  const Shape& in = call.inputs[0].shape;
  Shape out(call.attrs.integers("shape"));
  if (!out.volume() || buda::broadcast(in, out) != out)
    return shape_error(cat("a value of shape ", in.text(), " cannot be broadcast to ", out.text()));
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_broadcast(const EvaluateCall& call) {
  const Shape& out = call.outputs[0].shape;
  return one_tensor(gathered(call.inputs[0], out, 0, broadcast_strides(call.inputs[0].shape(), out), call.threads));
}

// ---- slice

struct Range {
  std::int64_t first = 0, step = 1, count = 0;
};

// Python's start:stop:step on an axis: negative places count from the end, and what lies outside is cut off.
Range python_range(std::int64_t size, std::int64_t start, std::int64_t stop, std::int64_t step) {
  auto placed = [size](std::int64_t v, std::int64_t least, std::int64_t most) { return std::clamp(v < 0 ? v + size : v, least, most); };
  if (step > 0) {
    start = placed(start, 0, size);
    stop = placed(stop, 0, size);
    return {start, step, start < stop ? (stop - start - 1) / step + 1 : 0};
  }
  start = placed(start, -1, size - 1);
  stop = placed(stop, -1, size - 1);
  // The smallest 64-bit number has no negative; a step that long leaves one element.
  std::int64_t back = step == std::numeric_limits<std::int64_t>::min() ? size : -step;
  return {start, step, start > stop ? (start - stop - 1) / std::max<std::int64_t>(back, 1) + 1 : 0};
}

Result<std::vector<Range>> ranges(const Shape& in, const Attrs& attrs) {
  const auto& dims = attrs.integers("dims");
  const auto& starts = attrs.integers("starts");
  const auto& stops = attrs.integers("stops");
  const auto& steps = attrs.integers("steps");
  if (starts.size() != dims.size() || stops.size() != dims.size() || (!steps.empty() && steps.size() != dims.size()))
    return shape_error(cat("'dims', 'starts', 'stops' and 'steps' must be equally long, not ", dims.size(), ", ", starts.size(), ", ",
                           stops.size(), " and ", steps.size()));
  std::vector<Range> out;
  for (std::int64_t size : in) out.push_back({0, 1, size});
  std::vector<char> seen(in.rank(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    BUDA_ASSIGN(std::size_t axis, resolved_axis(in, dims[i]));
    if (seen[axis]++ != 0) return shape_error(cat("axis ", dims[i], " is sliced twice"));
    std::int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0) return shape_error(cat("the step along axis ", dims[i], " must not be 0"));
    out[axis] = python_range(in[axis], starts[i], stops[i], step);
  }
  return out;
}

Result<std::vector<ValueType>> infer_slice(const InferCall& call) {
  BUDA_ASSIGN(std::vector<Range> parts, ranges(call.inputs[0].shape, call.attrs));
  Shape out;
  for (const auto& r : parts) out.push_back(r.count);
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_slice(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::vector<Range> parts, ranges(in.shape(), call.attrs));
  std::vector<std::int64_t> own = in.shape().strides(), strides;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    first += parts[i].count == 0 ? 0 : parts[i].first * own[i];
    strides.push_back(parts[i].count < 2 ? 0 : own[i] * parts[i].step);
  }
  return one_tensor(gathered(in, call.outputs[0].shape, first, strides, call.threads));
}

// ---- concatenate, pad

Result<std::vector<ValueType>> infer_concatenate(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::anything));
  Shape out = call.inputs[0].shape;
  BUDA_ASSIGN(std::size_t axis, resolved_axis(out, call.attrs.integer("dim")));
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    Shape next = call.inputs[i].shape;
    bool fits = next.rank() == out.rank();
    for (std::size_t k = 0; fits && k < out.rank(); ++k) fits = k == axis || next[k] == out[k];
    if (!fits)
      return shape_error(cat("input ", i, " of shape ", next.text(), " does not continue ", call.inputs[0].shape.text(), " along axis ",
                             axis, ": all other sizes must be equal"));
    auto sum = checked_add(out[axis], next[axis]);
    if (!sum) return shape_error("the result is too large");
    out[axis] = *sum;
  }
  return one(dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_concatenate(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  BUDA_ASSIGN(std::size_t axis, resolved_axis(shape, call.attrs.integer("dim")));
  BUDA_ASSIGN(Buffer out, Buffer::make(call.outputs[0].dtype, shape));
  std::vector<std::int64_t> place(shape.rank(), 0);
  for (const Tensor& part : call.inputs) {
    put(part, out, shape, place);
    place[axis] += part.shape()[axis];
  }
  return std::vector<Tensor>{std::move(out).take()};
}

Result<std::vector<ValueType>> infer_pad(const InferCall& call) {
  Shape out = call.inputs[0].shape;
  const auto& before = call.attrs.integers("before");
  const auto& after = call.attrs.integers("after");
  if (before.size() != out.rank() || after.size() != out.rank())
    return shape_error(
        cat("'before' and 'after' need one number for each axis of ", out.text(), ", not ", before.size(), " and ", after.size()));
  for (std::size_t i = 0; i < out.rank(); ++i) {
    if (before[i] < 0 || after[i] < 0) return shape_error("padding must not be negative; a slice removes elements");
    auto sum = checked_add(before[i], after[i]);
    if (sum) sum = checked_add(*sum, out[i]);
    if (!sum) return shape_error("the result is too large");
    out[i] = *sum;
  }
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_pad(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  BUDA_ASSIGN(Buffer out, Buffer::make(call.outputs[0].dtype, shape));
  fill(out, call.outputs[0].dtype, call.attrs.real("value"));
  put(call.inputs[0], out, shape, call.attrs.integers("before"));
  return std::vector<Tensor>{std::move(out).take()};
}

OpDef movement(std::string name, std::string summary, std::vector<AttrDef> attrs, decltype(OpDef::infer) infer,
               decltype(OpDef::evaluate) evaluate) {
  return tensor_level_op("movement", std::move(name), std::move(summary), {"x"}, std::move(attrs), infer, evaluate);
}

}  // namespace

std::vector<OpDef> movement_ops() {
  auto needed = [](std::string name, std::string doc) {
    return AttrDef{std::move(name), AttrType::integers, std::nullopt, std::move(doc), {}};
  };
  auto optional = [](std::string name, std::string doc) {
    return AttrDef{std::move(name), AttrType::integers, std::vector<std::int64_t>{}, std::move(doc), {}};
  };
  OpDef concatenate =
      movement("concatenate", "inputs one after the other along an axis",
               {{"dim", AttrType::integer, std::nullopt, "the axis, negative from the end", {}}}, infer_concatenate, evaluate_concatenate);
  concatenate.most_inputs = kAnyNumber;
  return {movement("reshape", "the same elements in row-major order under another shape",
                   {needed("shape", "the shape; one size may be -1")}, infer_reshape, evaluate_same_elements),
          movement("transpose", "axes in another order", {needed("perm", "axis i of the result is axis perm[i] of x")}, infer_transpose,
                   evaluate_transpose),
          movement("squeeze", "without axes of size 1", {optional("dims", "the axes; none: all of size 1")}, infer_squeeze,
                   evaluate_same_elements),
          movement("unsqueeze", "with more axes of size 1", {needed("dims", "the new axes, as axes of the result")}, infer_unsqueeze,
                   evaluate_same_elements),
          movement("broadcast", "repeated along axes of size 1 and new leading axes", {needed("shape", "the shape of the result")},
                   infer_broadcast, evaluate_broadcast),
          movement("slice", "from start up to but not including stop, every step-th, as x[start:stop:step] in Python",
                   {needed("dims", "the axes"), needed("starts", "for each axis"), needed("stops", "for each axis"),
                    optional("steps", "for each axis; none: 1; may be negative")},
                   infer_slice, evaluate_slice),
          std::move(concatenate),
          device_splice(),
          movement("pad", "with a border of one value",
                   {needed("before", "elements added before the first, for each axis"),
                    needed("after", "and after the last"),
                    {"value", AttrType::real, 0.0, "of the border", {}}},
                   infer_pad, evaluate_pad)};
}

}  // namespace buda::ops
