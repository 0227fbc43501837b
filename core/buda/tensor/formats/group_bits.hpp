// SPDX-License-Identifier: Apache-2.0
// Sixteen datums as bytes of a tile.
#pragma once

#include <buda/tensor/formats/bfp_group.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace buda::datum {

template <int kBits>
using Word = std::conditional_t<kBits == 32, std::uint32_t, std::conditional_t<kBits == 16, std::uint16_t, std::uint8_t>>;

// Sixteen datums of kBits bits to 2 * kBits bytes, the first in the lowest bits.
template <int kBits>
void store_group(const std::uint32_t* datums, char* out) {
  if constexpr (kBits >= 8) {
    Word<kBits> words[kGroup];
    for (int i = 0; i < kGroup; ++i) words[i] = static_cast<Word<kBits>>(datums[i]);
    std::memcpy(out, words, sizeof words);
  } else {
    constexpr int kPerByte = 8 / kBits;
    for (int byte = 0; byte < 2 * kBits; ++byte) {
      std::uint32_t gathered = 0;
      for (int i = 0; i < kPerByte; ++i) gathered |= datums[byte * kPerByte + i] << (i * kBits);
      out[byte] = static_cast<char>(gathered);
    }
  }
}

template <int kBits>
void load_group(const char* in, std::uint32_t* datums) {
  if constexpr (kBits >= 8) {
    Word<kBits> words[kGroup];
    std::memcpy(words, in, sizeof words);
    std::copy_n(words, kGroup, datums);
  } else {
    constexpr int kPerByte = 8 / kBits;
    for (int i = 0; i < kGroup; ++i)
      datums[i] = static_cast<unsigned char>(in[i / kPerByte]) >> (i % kPerByte * kBits) & ((1u << kBits) - 1);
  }
}

}  // namespace buda::datum
