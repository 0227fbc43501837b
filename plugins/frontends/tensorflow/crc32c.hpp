// CRC-32C, the checksum of TensorFlow's files.
#pragma once

#include <cstdint>
#include <string_view>

namespace buda::tensorflow_frontend {

std::uint32_t crc32c(std::string_view bytes);

// As files store it: rotated, with a constant added, so that a checksum over stored checksums is no weaker.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace buda::tensorflow_frontend
