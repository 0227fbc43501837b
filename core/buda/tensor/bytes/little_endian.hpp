// SPDX-License-Identifier: Apache-2.0
// Little-endian integers in strings of bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace buda {

// The integer at `offset`; the caller has made sure that it is there.
template <std::unsigned_integral T>
T load_le(std::string_view bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i));
  return value;
}

template <std::unsigned_integral T>
void append_le(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace buda
