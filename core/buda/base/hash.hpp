// SPDX-License-Identifier: Apache-2.0
// A hash whose value is the same on every machine and in every run, so that it may decide the content of a file.
#pragma once

#include <cstdint>
#include <string_view>

namespace buda {

// FNV-1a, 64 bit. Not for hostile input: use it for fingerprints and ordered choices, not for hash tables over file content.
class Fnv1a {
 public:
  constexpr Fnv1a& add(std::string_view bytes) {
    for (char c : bytes) mix(static_cast<unsigned char>(c));
    return *this;
  }
  constexpr Fnv1a& add(std::uint64_t v) {
    for (int i = 0; i < 8; ++i) mix(static_cast<unsigned char>(v >> (8 * i)));
    return *this;
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  constexpr void mix(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

constexpr std::uint64_t stable_hash(std::string_view bytes) { return Fnv1a{}.add(bytes).value(); }

}  // namespace buda
