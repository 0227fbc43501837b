// SPDX-License-Identifier: Apache-2.0
// Archives whose members were changed are refused for their checksums, before anybody looks at what is in them; so these are set right.
#pragma once

#include <buda/io/checksum.hpp>

#include <cstdint>
#include <cstring>
#include <string>

namespace buda {

// The bytes, with the checksums of stored members, in the directory and before each member, as far as these can be found.
inline std::string with_checksums(std::string zip) {
  constexpr std::size_t kEntry = 46, kLocal = 30;  // bytes of both headers, without names
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint32_t{static_cast<std::uint8_t>(zip[at + i])} << (8 * i);
    return std::size_t{value};
  };
  for (std::size_t entry = zip.find("PK\1\2"); entry != std::string::npos && entry + kEntry <= zip.size();
       entry = zip.find("PK\1\2", entry + 1)) {
    const std::size_t local = number(entry + 42, 4), size = number(entry + 24, 4);
    if (local > zip.size() || zip.size() - local < kLocal) continue;
    const std::size_t content = local + kLocal + number(local + 26, 2) + number(local + 28, 2);
    if (content > zip.size() || zip.size() - content < size) continue;
    const std::uint32_t crc = io::crc32(std::string_view(zip).substr(content, size));
    std::memcpy(zip.data() + entry + 16, &crc, 4);
    std::memcpy(zip.data() + local + 14, &crc, 4);
  }
  return zip;
}

}  // namespace buda
