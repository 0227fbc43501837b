// SPDX-License-Identifier: Apache-2.0
// Cyclic redundancy checks, as fast as the memory is read; mapped files are read without their pages becoming resident.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::io {

// CRC-32 of ISO-HDLC, the one of zip archives. `before` is that of the bytes that come before these.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

// CRC-32C (Castagnoli).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace buda::io

#pragma GCC visibility pop
