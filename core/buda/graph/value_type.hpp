// SPDX-License-Identifier: Apache-2.0
// What a graph knows of a value before it is computed: element type, shape and, on a device, data format; and how precisely it is computed.
#pragma once

#include <buda/tensor/data_format.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/shape.hpp>

#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda::graph {

// At tensor level the shape is the model's. At device level it has the four axes (w, z, r, c) in datums, r and c being multiples of the
// tile's sides, and `format` says how the device stores the value once formats were chosen; dtype is then what the host computes with.
struct ValueType {
  DType dtype = DType::f32;
  Shape shape;
  std::optional<DataFormat> format;

  std::string text() const;  // "F32 [1, 1, 32, 64] Bfp8_b"
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// How many passes over the halves of the mantissas a multiplication takes: LoFi 1, HiFi2 2, HiFi3 3, HiFi4 4.
enum class MathFidelity : std::uint8_t { lofi, hifi2, hifi3, hifi4 };

// How a device op computes; nothing where it is not chosen yet, and always so at tensor level. The format of an op's output stands in its
// ValueType.
struct Precision {
  std::optional<DataFormat> intermediate;  // of partial results that leave the destination register
  std::optional<DataFormat> accumulate;    // in the destination register
  std::optional<MathFidelity> fidelity;
  friend bool operator==(const Precision&, const Precision&) = default;
};

std::string_view fidelity_name(MathFidelity f);  // "HiFi2"
std::optional<MathFidelity> fidelity_from_name(std::string_view name);

}  // namespace buda::graph

#pragma GCC visibility pop
