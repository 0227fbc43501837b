// SPDX-License-Identifier: Apache-2.0
// Vectors of which the first element is at the beginning of a cache line: a load of a vector register that crosses lines takes twice as
// long.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}  // as containers ask for

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace buda

#pragma GCC visibility pop
