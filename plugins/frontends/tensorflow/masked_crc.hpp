// SPDX-License-Identifier: Apache-2.0
// The checksum of TensorFlow's files.
#pragma once

#include <buda/io/checksum.hpp>

#include <cstdint>
#include <string_view>

namespace buda::tensorflow_frontend {

// CRC-32C as files store it: rotated, with a constant added, so that a checksum over stored checksums is no weaker.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = io::crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace buda::tensorflow_frontend
