// SPDX-License-Identifier: Apache-2.0
// The numbers of a tensor, whatever its element type.
#pragma once

#include <buda/tensor/tensor.hpp>

#include <cstdint>

namespace buda::judge {

// Calls f with the numbers of a tensor, as they are or, of rare types, as doubles.
template <class F>
decltype(auto) with_numbers(const Tensor& tensor, F&& f) {
  switch (tensor.dtype()) {
    case DType::f32:
      return f(tensor.as<float>());
    case DType::i32:
      return f(tensor.as<std::int32_t>());
    case DType::u32:
      return f(tensor.as<std::uint32_t>());
    case DType::f64:
      return f(tensor.as<double>());
    default:
      return f(tensor.cast(DType::f64).as<double>());
  }
}

}  // namespace buda::judge
