// The copy goes a part after the other, so that a large tensor of a mapped file is not in memory twice.
#include <buda/tensor/aligned_copy.hpp>

#include <buda/io/mapped_memory.hpp>
#include <buda/tensor/aligned_memory.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace buda::detail {

const char* AlignedCopy::data() {
  std::call_once(made_, [&] {
    auto memory = allocate_aligned(from_.size());
    if (!memory) throw std::bad_alloc();
    constexpr std::size_t kPart = std::size_t{4} << 20;
    for (std::size_t at = 0; at < from_.size(); at += kPart) {
      io::Bytes part = from_.slice(at, std::min(kPart, from_.size() - at));
      std::memcpy(memory.get() + at, part.data(), part.size());
      io::release_mapped(part.view());
    }
    memory_ = std::move(memory);
  });
  return memory_.get();
}

}  // namespace buda::detail
