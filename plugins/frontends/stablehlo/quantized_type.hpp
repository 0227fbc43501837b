// SPDX-License-Identifier: Apache-2.0
// Quantised element types: !quant.uniform<i8<-128:127>:f32:1, {0.1:-30, 0.5}>.
#pragma once

#include <buda/frontend/quantization.hpp>
#include <buda/tensor/dtype.hpp>

#include <optional>
#include <string_view>

namespace buda::stablehlo {

struct QuantizedType {
  DType stored = DType::i8;      // of the integers; those of fewer than 8 bits are in bytes
  DType expressed = DType::f32;  // of the numbers that they stand for
  double least = 0, most = 0;    // limits of the integers
  bool is_narrow = false;        // these are not the limits of `stored`
  frontend::Quantization steps;
  bool per_axis = false;

  friend bool operator==(const QuantizedType&, const QuantizedType&) = default;
};

// Nothing for what is not such a type, or has storage, limits, scales or zero points that are not supported.
std::optional<QuantizedType> parse_quantized_type(std::string_view text);

// The same integers stand for the same numbers, though the slices may be along another axis.
bool same_steps(const QuantizedType& a, const QuantizedType& b);

}  // namespace buda::stablehlo
