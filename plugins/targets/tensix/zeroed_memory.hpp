// SPDX-License-Identifier: Apache-2.0
// Memory that the system gives as zeros, page by page when each is first used: a core's L1, of which most ops use little. An allocator
// would have to clear all of it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace buda::tensix {

class ZeroedMemory {
 public:
  // At least one byte.
  explicit ZeroedMemory(std::size_t bytes)
      : bytes_(bytes), at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
  }
  ZeroedMemory(const ZeroedMemory&) = delete;
  ZeroedMemory& operator=(const ZeroedMemory&) = delete;
  ~ZeroedMemory() { ::munmap(at_, bytes_); }

  std::span<std::uint8_t> bytes() { return {static_cast<std::uint8_t*>(at_), bytes_}; }

 private:
  std::size_t bytes_;
  void* at_;
};

}  // namespace buda::tensix
