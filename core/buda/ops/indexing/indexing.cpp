// SPDX-License-Identifier: Apache-2.0
// Operations that pick or place elements by index: gather, scatter, one_hot, reverse_sequence.
//
// Indices are integers that count from the end where they are negative. They are data, so one that lies outside is found when the op
// is evaluated, and is an error then (OP008). Where several updates meet in one place they act in their row-major order.
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/ops/indexing/embedding.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cstring>

namespace buda::ops {
namespace {

using Offsets = std::vector<std::int64_t>;

Result<void> check_indices(const ValueType& type, std::string_view what = "indices") {
  if (type.dtype == DType::i32 || type.dtype == DType::i64) return success();
  return dtype_error(cat(what, " must be I32 or I64, not ", dtype_name(type.dtype)));
}

Diagnostic outside(std::int64_t index, std::int64_t size) {
  return input_error("OP008", {}, cat("index ", index, " lies outside [", -size, ", ", size - 1, "]"));
}

Offsets integers(const Tensor& t) {
  Tensor wide = t.cast(DType::i64);
  auto span = wide.as<std::int64_t>();
  return {span.begin(), span.end()};
}

// Indices as places from the front; the first that lies outside is an error.
Result<Offsets> places(const Tensor& indices, std::int64_t size) {
  Offsets out = integers(indices);
  for (auto& i : out) {
    if (i < -size || i >= size) return outside(i, size);
    if (i < 0) i += size;
  }
  return out;
}

// Sizes before and after an axis, multiplied.
std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t out = 1;
  for (std::size_t i = begin; i < end; ++i) out *= shape[i];
  return out;
}

// ---- gather

Result<std::vector<ValueType>> infer_gather(const InferCall& call) {
  BUDA_TRY(check_indices(call.inputs[1]));
  const Shape &data = call.inputs[0].shape, &indices = call.inputs[1].shape;
  BUDA_ASSIGN(std::size_t axis, resolved_axis(data, call.attrs.integer("dim")));
  Shape out;
  for (std::size_t i = 0; i < axis; ++i) out.push_back(data[i]);
  for (auto size : indices) out.push_back(size);
  for (std::size_t i = axis + 1; i < data.rank(); ++i) out.push_back(data[i]);
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_gather(const EvaluateCall& call) {
  const Tensor& data = call.inputs[0];
  BUDA_ASSIGN(std::size_t axis, resolved_axis(data.shape(), call.attrs.integer("dim")));
  BUDA_ASSIGN(Buffer out, Buffer::make(data.dtype(), call.outputs[0].shape));
  if (call.outputs[0].shape.volume() == 0) return std::vector<Tensor>{std::move(out).take()};
  BUDA_ASSIGN(Offsets at, places(call.inputs[1], data.shape()[axis]));
  std::int64_t outer = product(data.shape(), 0, axis), size = data.shape()[axis];
  auto run = static_cast<std::size_t>(product(data.shape(), axis + 1, data.shape().rank())) * dtype_size(data.dtype());
  char* to = out.bytes();
  for (std::int64_t o = 0; o < outer; ++o)
    for (auto i : at) {
      std::memcpy(to, data.bytes().data() + static_cast<std::size_t>(o * size + i) * run, run);
      to += run;
    }
  return std::vector<Tensor>{std::move(out).take()};
}

// For each element of `indices`, in order: which element of a tensor of shape `data` is meant, when its place counts for all axes but one.
Result<Offsets> element_offsets(const Tensor& indices, const Shape& data, std::size_t axis) {
  BUDA_ASSIGN(Offsets at, places(indices, data[axis]));
  Offsets strides = data.strides();
  std::int64_t along = strides[axis];
  strides[axis] = 0;
  StridedWalk<1> walk(indices.shape(), {strides});
  std::int64_t step = walk.inner_strides()[0];
  walk.run(0, walk.count(), [&](std::int64_t begin, const auto& offsets, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) {
      auto& place = at[static_cast<std::size_t>(begin + i)];
      place = place * along + offsets[0] + i * step;
    }
  });
  return at;
}

Result<void> check_elements(const ValueType& data, const ValueType& indices, std::size_t axis) {
  BUDA_TRY(check_indices(indices));
  bool fits = indices.shape.rank() == data.shape.rank();
  for (std::size_t i = 0; fits && i < data.shape.rank(); ++i) fits = i == axis || indices.shape[i] <= data.shape[i];
  if (fits) return success();
  return shape_error(
      cat("indices of shape ", indices.shape.text(), " do not lie within data of shape ", data.shape.text(), ", axis ", axis, " aside"));
}

Result<std::vector<ValueType>> infer_gather_elements(const InferCall& call) {
  BUDA_ASSIGN(std::size_t axis, resolved_axis(call.inputs[0].shape, call.attrs.integer("dim")));
  BUDA_TRY(check_elements(call.inputs[0], call.inputs[1], axis));
  return one(call.inputs[0].dtype, call.inputs[1].shape);
}

// Blocks of `run` elements from the given offsets, one after the other.
Result<std::vector<Tensor>> picked(const EvaluateCall& call, const Offsets& from, std::int64_t run) {
  const Tensor& data = call.inputs[0];
  BUDA_ASSIGN(Buffer out, Buffer::make(data.dtype(), call.outputs[0].shape));
  std::size_t size = dtype_size(data.dtype()), bytes = static_cast<std::size_t>(run) * size;
  char* to = out.bytes();
  for (auto offset : from) {
    std::memcpy(to, data.bytes().data() + static_cast<std::size_t>(offset) * size, bytes);
    to += bytes;
  }
  return std::vector<Tensor>{std::move(out).take()};
}

Result<std::vector<Tensor>> evaluate_gather_elements(const EvaluateCall& call) {
  const Tensor& data = call.inputs[0];
  BUDA_ASSIGN(std::size_t axis, resolved_axis(data.shape(), call.attrs.integer("dim")));
  BUDA_ASSIGN(Offsets from, element_offsets(call.inputs[1], data.shape(), axis));
  return picked(call, from, 1);
}

// ---- gather_nd, scatter_nd: the last axis of the indices holds coordinates

struct Coordinates {
  std::size_t batch = 0;   // leading axes that data and indices share
  std::size_t length = 0;  // how many axes after those are named
};

Result<Coordinates> coordinates(const ValueType& data, const ValueType& indices, std::int64_t batch_dims) {
  BUDA_TRY(check_indices(indices));
  auto least = std::min(data.shape.rank(), indices.shape.rank());
  if (least == 0 || batch_dims < 0 || static_cast<std::size_t>(batch_dims) >= least)
    return shape_error(
        cat("data of shape ", data.shape.text(), " and indices of shape ", indices.shape.text(), " cannot share ", batch_dims, " axes"));
  Coordinates c{static_cast<std::size_t>(batch_dims), static_cast<std::size_t>(indices.shape[indices.shape.rank() - 1])};
  for (std::size_t i = 0; i < c.batch; ++i)
    if (data.shape[i] != indices.shape[i])
      return shape_error(cat("axis ", i, " of data ", data.shape.text(), " and of indices ", indices.shape.text(), " must be equal"));
  if (c.length > data.shape.rank() - c.batch)
    return shape_error(cat("indices of shape ", indices.shape.text(), " name ", c.length, " axes of data of shape ", data.shape.text()));
  return c;
}

Result<Offsets> block_offsets(const Tensor& indices, const Shape& data, const Coordinates& c) {
  Offsets at = integers(indices), strides = data.strides(), out;
  std::int64_t batches = product(data, 0, c.batch);
  std::int64_t per_batch = product(indices.shape(), c.batch, indices.shape().rank() - 1);
  std::int64_t batch_stride = product(data, c.batch, data.rank());
  std::size_t next = 0;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t i = 0; i < per_batch; ++i) {
      std::int64_t offset = b * batch_stride;
      for (std::size_t k = 0; k < c.length; ++k) {
        std::int64_t index = at[next++], size = data[c.batch + k];
        if (index < -size || index >= size) return outside(index, size);
        offset += (index < 0 ? index + size : index) * strides[c.batch + k];
      }
      out.push_back(offset);
    }
  return out;
}

Result<std::vector<ValueType>> infer_gather_nd(const InferCall& call) {
  const auto &data = call.inputs[0], &indices = call.inputs[1];
  BUDA_ASSIGN(Coordinates c, coordinates(data, indices, call.attrs.integer("batch_dims")));
  Shape out;
  for (std::size_t i = 0; i + 1 < indices.shape.rank(); ++i) out.push_back(indices.shape[i]);
  for (std::size_t i = c.batch + c.length; i < data.shape.rank(); ++i) out.push_back(data.shape[i]);
  return one(data.dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_gather_nd(const EvaluateCall& call) {
  const Shape& data = call.inputs[0].shape();
  BUDA_ASSIGN(Coordinates c,
              coordinates({DType::f32, data, {}}, {DType::i64, call.inputs[1].shape(), {}}, call.attrs.integer("batch_dims")));
  if (call.outputs[0].shape.volume() == 0) return picked(call, {}, 0);
  BUDA_ASSIGN(Offsets from, block_offsets(call.inputs[1], data, c));
  return picked(call, from, product(data, c.batch + c.length, data.rank()));
}

// ---- scatter

template <class F>
Result<std::vector<Tensor>> reduced_into(const EvaluateCall& call, const Offsets& to, std::int64_t run, F f) {
  return visit_compute<true>(compute_dtype(call.inputs[0].dtype()), [&](auto tag) -> Result<std::vector<Tensor>> {
    using T = typename decltype(tag)::type;
    Tensor data = call.inputs[0].cast(kDTypeOf<T>), updates = call.inputs[2].cast(kDTypeOf<T>);
    auto span = data.as<T>();
    std::vector<T> out(span.begin(), span.end());
    const T* u = updates.as<T>().data();
    for (auto offset : to)
      for (std::int64_t i = 0; i < run; ++i, ++u) {
        T& place = out[static_cast<std::size_t>(offset + i)];
        place = f(place, *u);
      }
    return std::vector<Tensor>{Tensor(data.shape(), std::move(out)).cast(call.inputs[0].dtype())};
  });
}

Result<std::vector<Tensor>> placed(const EvaluateCall& call, const Offsets& to, std::int64_t run) {
  const std::string& reduction = call.attrs.text("reduction");
  if (reduction == "add") return reduced_into(call, to, run, [](auto a, auto b) { return wrapping_add(a, b); });
  if (reduction == "mul") return reduced_into(call, to, run, [](auto a, auto b) { return wrapping_multiply(a, b); });
  if (reduction == "max") return reduced_into(call, to, run, [](auto a, auto b) { return larger(a, b); });
  if (reduction == "min") return reduced_into(call, to, run, [](auto a, auto b) { return smaller(a, b); });
  const Tensor &data = call.inputs[0], &updates = call.inputs[2];
  BUDA_ASSIGN(Buffer out, Buffer::make(data.dtype(), data.shape()));
  std::copy(data.bytes().begin(), data.bytes().end(), out.bytes());
  std::size_t size = dtype_size(data.dtype()), bytes = static_cast<std::size_t>(run) * size;
  const char* from = updates.bytes().data();
  for (auto offset : to) {
    std::memcpy(out.bytes() + static_cast<std::size_t>(offset) * size, from, bytes);
    from += bytes;
  }
  return std::vector<Tensor>{std::move(out).take()};
}

Result<void> check_updates(const InferCall& call, const Shape& wanted) {
  if (call.inputs[2].dtype != call.inputs[0].dtype)
    return dtype_error(cat("updates are ", dtype_name(call.inputs[2].dtype), ", and data ", dtype_name(call.inputs[0].dtype)));
  if (call.inputs[2].shape != wanted)
    return shape_error(cat("updates must have shape ", wanted.text(), ", not ", call.inputs[2].shape.text()));
  return success();
}

Result<std::vector<ValueType>> infer_scatter_elements(const InferCall& call) {
  BUDA_ASSIGN(std::size_t axis, resolved_axis(call.inputs[0].shape, call.attrs.integer("dim")));
  BUDA_TRY(check_elements(call.inputs[0], call.inputs[1], axis));
  BUDA_TRY(check_updates(call, call.inputs[1].shape));
  return like_first(call);
}

Result<std::vector<Tensor>> evaluate_scatter_elements(const EvaluateCall& call) {
  const Shape& data = call.inputs[0].shape();
  BUDA_ASSIGN(std::size_t axis, resolved_axis(data, call.attrs.integer("dim")));
  BUDA_ASSIGN(Offsets to, element_offsets(call.inputs[1], data, axis));
  return placed(call, to, 1);
}

Result<std::vector<ValueType>> infer_scatter_nd(const InferCall& call) {
  const auto &data = call.inputs[0], &indices = call.inputs[1];
  BUDA_ASSIGN(Coordinates c, coordinates(data, indices, 0));
  Shape updates;
  for (std::size_t i = 0; i + 1 < indices.shape.rank(); ++i) updates.push_back(indices.shape[i]);
  for (std::size_t i = c.length; i < data.shape.rank(); ++i) updates.push_back(data.shape[i]);
  BUDA_TRY(check_updates(call, updates));
  return like_first(call);
}

Result<std::vector<Tensor>> evaluate_scatter_nd(const EvaluateCall& call) {
  const Shape& data = call.inputs[0].shape();
  const Shape& indices = call.inputs[1].shape();
  Coordinates c{0, static_cast<std::size_t>(indices[indices.rank() - 1])};
  BUDA_ASSIGN(Offsets to, block_offsets(call.inputs[1], data, c));
  return placed(call, to, product(data, c.length, data.rank()));
}

// ---- one_hot, reverse_sequence

Result<std::vector<ValueType>> infer_one_hot(const InferCall& call) {
  std::int64_t depth = call.attrs.integer("depth");
  if (depth < 1) return shape_error(cat("a depth of ", depth, " is none; it must be at least 1"));
  if (call.inputs[1].shape != Shape{2}) return shape_error(cat("the values must be two, off and on, not ", call.inputs[1].shape.text()));
  if (call.inputs[0].dtype == DType::boolean) return dtype_error("indices must be numbers, not BOOL");
  std::vector<std::int64_t> sizes = call.inputs[0].shape.dims();
  sizes.push_back(depth);
  BUDA_ASSIGN(std::size_t axis, resolved_axis(Shape(sizes), call.attrs.integer("dim")));
  sizes.pop_back();
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  return one(call.inputs[1].dtype, Shape(std::move(sizes)));
}

Result<std::vector<Tensor>> evaluate_one_hot(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  BUDA_ASSIGN(std::size_t axis, resolved_axis(shape, call.attrs.integer("dim")));
  std::int64_t depth = shape[axis], inner = product(shape, axis + 1, shape.rank());
  BUDA_ASSIGN(Buffer out, Buffer::make(call.outputs[0].dtype, shape));
  std::size_t size = dtype_size(call.outputs[0].dtype);
  const char* values = call.inputs[1].bytes().data();
  for (std::size_t i = 0; i < out.byte_count(); i += size) std::memcpy(out.bytes() + i, values, size);
  Offsets indices = integers(call.inputs[0]);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t at = indices[i] < 0 ? indices[i] + depth : indices[i];
    if (at < 0 || at >= depth) continue;  // an index outside is hot nowhere
    auto place = static_cast<std::int64_t>(i) / inner * depth * inner + at * inner + static_cast<std::int64_t>(i) % inner;
    std::memcpy(out.bytes() + static_cast<std::size_t>(place) * size, values + size, size);
  }
  return std::vector<Tensor>{std::move(out).take()};
}

Result<std::vector<ValueType>> infer_reverse_sequence(const InferCall& call) {
  BUDA_TRY(check_indices(call.inputs[1], "lengths"));
  const Shape& x = call.inputs[0].shape;
  BUDA_ASSIGN(std::size_t batch, resolved_axis(x, call.attrs.integer("batch_dim")));
  BUDA_ASSIGN(std::size_t time, resolved_axis(x, call.attrs.integer("time_dim")));
  if (batch == time) return shape_error("the axes of batch and time must be two");
  if (call.inputs[1].shape != Shape{x[batch]})
    return shape_error(cat("lengths must have shape ", Shape{x[batch]}.text(), ", not ", call.inputs[1].shape.text()));
  return like_first(call);
}

Result<std::vector<Tensor>> evaluate_reverse_sequence(const EvaluateCall& call) {
  const Shape& shape = call.inputs[0].shape();
  BUDA_ASSIGN(std::size_t batch, resolved_axis(shape, call.attrs.integer("batch_dim")));
  BUDA_ASSIGN(std::size_t time, resolved_axis(shape, call.attrs.integer("time_dim")));
  Offsets lengths = integers(call.inputs[1]), strides = shape.strides(), from;
  for (auto length : lengths)
    if (length < 0 || length > shape[time])
      return input_error("OP008", {}, cat("a length of ", length, " lies outside [0, ", shape[time], "]"));
  auto count = shape.volume().value_or(0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t t = i / strides[time] % shape[time];
    std::int64_t length = lengths[static_cast<std::size_t>(i / strides[batch] % shape[batch])];
    from.push_back(t < length ? i + (length - 1 - 2 * t) * strides[time] : i);
  }
  return picked(call, from, 1);
}

OpDef indexing_op(std::string name, std::string summary, std::vector<std::string> inputs, std::vector<AttrDef> attrs,
                  decltype(OpDef::infer) infer, decltype(OpDef::evaluate) evaluate) {
  return tensor_level_op("indexing", std::move(name), std::move(summary), std::move(inputs), std::move(attrs), infer, evaluate);
}

}  // namespace

std::vector<OpDef> indexing_ops() {
  AttrDef dim{"dim", AttrType::integer, std::int64_t{0}, "the axis, negative from the end", {}};
  AttrDef reduction{"reduction",
                    AttrType::text,
                    std::string("none"),
                    "how an update meets what is there: replaces it, or is added, multiplied, or the larger or smaller counts",
                    {"none", "add", "mul", "max", "min"}};
  return {indexing_op("gather", "slices of x along an axis, by their indices; the axes of the indices take the place of that axis",
                      {"x", "indices"}, {dim}, infer_gather, evaluate_gather),
          indexing_op("gather_elements",
                      "for each index the element at that place along an axis, and at the index's own place along the others",
                      {"x", "indices"}, {dim}, infer_gather_elements, evaluate_gather_elements),
          indexing_op("gather_nd", "for each row of indices the element or slice of x at these coordinates", {"x", "indices"},
                      {{"batch_dims", AttrType::integer, std::int64_t{0}, "leading axes that x and indices share", {}}}, infer_gather_nd,
                      evaluate_gather_nd),
          indexing_op("scatter_elements", "x with the updates in the places from which gather_elements would take them",
                      {"x", "indices", "updates"}, {dim, reduction}, infer_scatter_elements, evaluate_scatter_elements),
          indexing_op("scatter_nd", "x with the updates in the places from which gather_nd would take them", {"x", "indices", "updates"},
                      {reduction}, infer_scatter_nd, evaluate_scatter_nd),
          indexing_op("one_hot", "along a new axis values[1] at the index and values[0] elsewhere", {"indices", "values"},
                      {{"depth", AttrType::integer, std::nullopt, "size of the new axis", {}},
                       {"dim", AttrType::integer, std::int64_t{-1}, "the new axis, as an axis of the result", {}}},
                      infer_one_hot, evaluate_one_hot),
          indexing_op("reverse_sequence", "x with the first lengths[b] elements along the time axis of each batch in reverse order",
                      {"x", "lengths"},
                      {{"batch_dim", AttrType::integer, std::int64_t{1}, "the axis of batches", {}},
                       {"time_dim", AttrType::integer, std::int64_t{0}, "the axis of time", {}}},
                      infer_reverse_sequence, evaluate_reverse_sequence),
          device_embedding()};
}

}  // namespace buda::ops
