// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors of next to nothing: Range, ConstantOfShape, EyeLike, Size.
#include "node_import.hpp"
#include "shared_importers.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::onnx_frontend {
namespace {

// More than this is no range that becomes part of a graph.
constexpr double kMaxElements = 1 << 24;

template <class T>
std::vector<T> values_of_range(T start, T delta, std::int64_t count) {
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>)
      out.push_back(static_cast<T>(static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta)));
    else
      out.push_back(start + static_cast<T>(i) * delta);
  }
  return out;
}
}  // namespace

Result<void> import_range(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(Tensor start, n.known(0, "start"));
  BUDA_ASSIGN(Tensor limit, n.known(1, "limit"));
  BUDA_ASSIGN(Tensor delta, n.has_input(2) ? n.known(2, "delta") : Result<Tensor>(Tensor::scalar(std::int64_t{1}).cast(type.dtype)));
  for (const auto* t : {&start, &limit, &delta})
    if (t->size() != 1) return n.refuse(cat("start, limit and delta must be single numbers, not ", t->describe()));
  auto number = [](const Tensor& t) { return t.cast(DType::f64).as<double>()[0]; };
  double steps = std::ceil((number(limit) - number(start)) / number(delta));
  if (number(delta) == 0 || !(steps <= kMaxElements))
    return n.refuse(
        cat("from ", number(start), " to ", number(limit), " in steps of ", number(delta), " it has more elements than are supported"));
  auto count = steps > 0 ? static_cast<std::int64_t>(steps) : 0;
  Shape shape{count};
  Tensor out = is_float(type.dtype) ? Tensor(std::move(shape), values_of_range(number(start), number(delta), count))
                                    : Tensor(std::move(shape), values_of_range(start.cast(DType::i64).as<std::int64_t>()[0],
                                                                               delta.cast(DType::i64).as<std::int64_t>()[0], count));
  n.output_known(out.cast(type.dtype));
  return success();
}

namespace {

// As a broadcast, which is small in the graph whatever the shape.
Result<void> import_constant_of_shape(NodeImport& n) {
  BUDA_ASSIGN(auto sizes, n.known_integers(0, "shape"));
  Tensor value = Tensor::scalar(0.0f);
  if (n.has("value")) {
    BUDA_ASSIGN(value, n.tensor("value"));
    if (value.size() != 1) return n.refuse(cat("its value is ", value.describe(), ", not a single element"));
    BUDA_ASSIGN(value, value.reshaped(Shape{}));
  }
  const NarrowType* narrow = n.narrow_attribute("value");
  if (sizes.empty()) {
    n.output_known(std::move(value), 0, narrow);
    return success();
  }
  auto scalar = n.step("value").constant(std::move(value));
  n.output_narrow(n.result().broadcast(scalar, Shape(std::move(sizes))), narrow);
  return success();
}

Result<void> import_eye_like(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  if (type.shape.rank() != 2) return n.refuse(cat("its input has shape ", type.shape.text(), "; expected a matrix"));
  auto dtype = n.has("dtype") ? dtype_of(static_cast<int>(n.integer("dtype", 0))) : std::optional(type.dtype);
  if (!dtype) return n.refuse(cat("its type is ", onnx_type_name(static_cast<int>(n.integer("dtype", 0))), "; numbers are read"));
  auto count = [&](std::size_t axis, std::int64_t first) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(type.shape[axis]));
    std::iota(out.begin(), out.end(), first);
    return out;
  };
  if (type.shape[0] > kMaxElements || type.shape[1] > kMaxElements)
    return n.refuse(cat("its input has shape ", type.shape.text(), ", which is larger than is supported"));
  // Beyond the matrix all diagonals are alike.
  std::int64_t k = std::clamp<std::int64_t>(n.integer("k", 0), -type.shape[0], type.shape[1]);
  auto rows = n.step("rows").constant(Tensor(Shape{type.shape[0], 1}, count(0, k)));
  auto columns = n.step("columns").constant(Tensor(Shape{1, type.shape[1]}, count(1, 0)));
  auto equal = n.step("diagonal").op("equal", {rows, columns});
  n.output(n.result().op("cast", {equal}, {{"dtype", std::string(dtype_name(*dtype))}}));
  return success();
}

Result<void> import_size(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  n.output_known(Tensor::scalar(shape.volume().value_or(0)));
  return success();
}

constexpr OpImporter kGeneratorsOps[] = {
    {"ConstantOfShape", 9, import_constant_of_shape},
    {"EyeLike", 9, import_eye_like},
    {"Range", 11, import_range},
    {"Size", 1, import_size, {}, Narrow::converts},
};

}  // namespace

std::span<const OpImporter> generator_ops() { return kGeneratorsOps; }

}  // namespace buda::onnx_frontend
