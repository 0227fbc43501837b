// SPDX-License-Identifier: Apache-2.0
// Integers that stand for numbers: scale * (q - zero point).
#pragma once

#include <buda/graph/node_id.hpp>
#include <buda/tensor/dtype.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {
class Builder;
}  // namespace buda::ops

namespace buda::frontend {

struct Quantization {
  std::vector<float> scales;              // one, or one for each slice along the axis
  std::vector<std::int64_t> zero_points;  // as many
  std::int64_t axis = 0;

  bool per_slice() const { return scales.size() > 1; }
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

// The numbers that integers of the type `stored` stand for, in F32: node <name>.real.
graph::ValueRef dequantized(ops::Builder& b, graph::ValueRef value, const Quantization& quantization, DType stored,
                            const std::string& name);

// The nearest integers: node <name>. Halves become the even neighbour, or with ties="away" the one away from zero.
graph::ValueRef quantized(ops::Builder& b, graph::ValueRef value, const Quantization& quantization, DType stored, const std::string& name,
                          std::string_view ties);

}  // namespace buda::frontend

#pragma GCC visibility pop
