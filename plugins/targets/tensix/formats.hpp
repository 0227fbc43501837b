// SPDX-License-Identifier: Apache-2.0
// Formats of numbers in L1, as the hardware numbers them.
#pragma once

#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <optional>

namespace buda::tensix {

// Nothing where unpackers and packers know no such floating-point format.
inline std::optional<DataFormat> l1_format(std::uint32_t code) {
  const auto format = format_from_code(code);
  if (!format || !is_float(*format) || *format == DataFormat::tf32) return std::nullopt;
  return format;
}

}  // namespace buda::tensix
