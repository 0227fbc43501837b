// SPDX-License-Identifier: Apache-2.0
// Operators whose result is known while importing, or is their input.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

Result<void> import_constant(NodeImport& n) {
  if (n.has("value")) {
    BUDA_ASSIGN(Tensor tensor, n.tensor("value"));
    n.output_known(std::move(tensor), 0, n.narrow_attribute("value"));
  } else if (n.has("value_float")) {
    n.output_known(Tensor::scalar(static_cast<float>(n.real("value_float", 0))));
  } else if (n.has("value_int")) {
    n.output_known(Tensor::scalar(n.integer("value_int", 0)));
  } else if (n.has("value_floats")) {
    auto values = n.floats("value_floats");
    Shape shape{static_cast<std::int64_t>(values.size())};
    n.output_known(Tensor(std::move(shape), std::move(values)));
  } else if (n.has("value_ints")) {
    auto values = n.integers("value_ints");
    Shape shape{static_cast<std::int64_t>(values.size())};
    n.output_known(Tensor(std::move(shape), std::move(values)));
  } else if (n.has("sparse_value")) {
    BUDA_ASSIGN(Tensor tensor, n.sparse_tensor("sparse_value"));
    n.output_known(std::move(tensor));
  } else {
    return n.refuse("its value is a string; only numbers are supported");
  }
  return success();
}

Result<void> import_identity(NodeImport& n) {
  n.output_input(0);
  return success();
}

// Of a tensor: values that may be missing are refused where they would be made.
Result<void> import_optional_has_element(NodeImport& n) {
  n.output_known(Tensor::scalar(Boolean{static_cast<std::uint8_t>(n.has_input(0))}));
  return success();
}

// Shapes are known: symbolic dimensions have got their values before.
Result<void> import_shape(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  auto rank = static_cast<std::int64_t>(shape.rank());
  auto clamped = [rank](std::int64_t v) { return std::clamp<std::int64_t>(v < 0 ? std::max(v, -rank) + rank : v, 0, rank); };
  std::int64_t start = clamped(n.integer("start", 0));
  std::int64_t end = std::max(start, clamped(n.integer("end", rank)));
  std::vector<std::int64_t> sizes(shape.begin() + start, shape.begin() + end);
  Shape list{static_cast<std::int64_t>(sizes.size())};
  n.output_known(Tensor(std::move(list), std::move(sizes)));
  return success();
}

constexpr OpImporter kConstantsOps[] = {
    {"Constant", 1, import_constant},
    {"Identity", 1, import_identity, {}, Narrow::moves, true},
    {"OptionalGetElement", 15, import_identity, {}, Narrow::moves},
    {"OptionalHasElement", 15, import_optional_has_element, {}, Narrow::converts},
    {"Shape", 1, import_shape, {}, Narrow::converts},
};

}  // namespace

std::span<const OpImporter> constant_ops() { return kConstantsOps; }

}  // namespace buda::onnx_frontend
