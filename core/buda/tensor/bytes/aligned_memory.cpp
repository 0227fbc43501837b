// SPDX-License-Identifier: Apache-2.0
// Memory for tensors.
#include <buda/tensor/bytes/aligned_memory.hpp>

#include <algorithm>
#include <new>

namespace buda {

std::shared_ptr<char> allocate_aligned(std::size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  void* memory = ::operator new(std::max<std::size_t>(bytes, 1), kAlignment, std::nothrow);
  if (memory == nullptr) return nullptr;
  return {static_cast<char*>(memory), [](char* p) { ::operator delete(p, kAlignment); }};
}

}  // namespace buda
