// SPDX-License-Identifier: Apache-2.0
// Checksums by ISA-L, which chooses the processor's best instructions at run time.
#include <buda/io/checksum.hpp>

#include <buda/io/mapped_memory.hpp>

#include <isa-l/crc.h>

#include <algorithm>

namespace buda::io {

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = before;
  read_by_parts(
      bytes, [&](std::string_view part) { crc = crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(part.data()), part.size()); });
  return crc;
}

std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // the library counts in `int`
  std::uint32_t crc = 0xFFFFFFFF;
  read_by_parts(bytes, [&](std::string_view part) {
    for (std::size_t at = 0; at < part.size(); at += kMost) {
      // Only read, although the parameter is not const.
      auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data() + at));
      crc = crc32_iscsi(data, static_cast<int>(std::min(kMost, part.size() - at)), crc);
    }
  });
  return ~crc;
}

}  // namespace buda::io
