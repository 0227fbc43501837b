// SPDX-License-Identifier: Apache-2.0
// Numbers counted up.
#include <buda/frontend/sequences.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::frontend {

Result<Tensor> sequence(const OpImport& op, double start, double limit, double step, DType dtype) {
  constexpr double kMost = 1 << 26;
  double count = step != 0 ? std::max(0.0, std::ceil((limit - start) / step)) : -1;
  if (!(count >= 0 && count <= kMost))
    return op.refuse(cat("its range from ", to_text(start), " to ", to_text(limit), " by ", to_text(step), " is not supported"));
  auto size = static_cast<std::int64_t>(count);
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(start + static_cast<double>(i) * step);
  return Tensor(Shape{size}, std::move(values)).cast(dtype);
}

}  // namespace buda::frontend
