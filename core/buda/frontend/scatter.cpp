// SPDX-License-Identifier: Apache-2.0
// Values put to places.
#include <buda/frontend/scatter.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::frontend {

Result<graph::ValueRef> scattered_onto_zeros(OpImport& op, graph::ValueRef indices, graph::ValueRef updates, DType dtype,
                                             const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  if (shape.volume().value_or(kMost + 1) > kMost) return op.refuse(cat("its shape ", shape.text(), " is too large"));
  BUDA_ASSIGN(Tensor zeros, Tensor::zeros(dtype, shape));
  graph::ValueRef base = op.step("zeros").constant(std::move(zeros));
  return op.result().op("scatter_nd", {base, indices, updates}, {{"reduction", std::string("add")}});
}

}  // namespace buda::frontend
