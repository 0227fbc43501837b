// SPDX-License-Identifier: Apache-2.0
// The copy goes a part after the other, so that a large tensor of a mapped file is not in memory twice.
#include <buda/tensor/bytes/aligned_copy.hpp>

#include <buda/io/mapped_memory.hpp>
#include <buda/tensor/bytes/aligned_memory.hpp>
#include <buda/tensor/bytes/hex_text.hpp>

#include <cstring>
#include <new>

namespace buda::detail {

const char* AlignedCopy::data() {
  std::call_once(made_, [&] {
    auto memory = allocate_aligned(size());
    if (!memory) throw std::bad_alloc();
    constexpr std::size_t kPart = std::size_t{4} << 20;
    char* to = memory.get();
    for (std::size_t at = 0; at < from_.size(); at += kPart) {
      const std::string_view part = from_.view().substr(at, kPart);
      if (form_ == From::hex) {
        decode_hex(part, to);
        to += part.size() / 2;
      } else {
        std::memcpy(to, part.data(), part.size());
        to += part.size();
      }
      io::release_mapped(part);
    }
    memory_ = std::move(memory);
  });
  return memory_.get();
}

}  // namespace buda::detail
