// SPDX-License-Identifier: Apache-2.0
// A queue of small values that grows as needed and is empty most of the time; far smaller than std::deque, of which there would be
// thousands.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace buda::sim {

template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return slots_[first_]; }
  const T& front() const { return slots_[first_]; }
  // From the front.
  const T& operator[](std::size_t i) const { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  T& back() { return slots_[(first_ + count_ - 1) & (slots_.size() - 1)]; }
  void push(T value) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_++) & (slots_.size() - 1)] = std::move(value);
  }
  void pop() {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> wider(slots_.empty() ? 4 : 2 * slots_.size());
    for (std::size_t i = 0; i < count_; ++i) wider[i] = std::move(slots_[(first_ + i) & (slots_.size() - 1)]);
    slots_ = std::move(wider);
    first_ = 0;
  }

  std::vector<T> slots_;  // a power of two
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace buda::sim
