// SPDX-License-Identifier: Apache-2.0
// Walking over tensors whose elements are not next to each other: broadcasts, transposes, slices.
#pragma once

#include <buda/base/parallel.hpp>
#include <buda/tensor/shape.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace buda::ops {

// Large enough that starting a thread is nothing beside it; fixed, so that results do not depend on the number of threads.
inline constexpr std::int64_t kElementsPerChunk = 1 << 16;

// f(begin, end) for consecutive parts of [0, count), on several threads.
template <class F>
void in_chunks(unsigned threads, std::int64_t count, F&& f) {
  std::int64_t chunks = (count + kElementsPerChunk - 1) / kElementsPerChunk;
  if (chunks <= 1) {
    if (count > 0) f(std::int64_t{0}, count);
    return;
  }
  parallel_for(threads, static_cast<std::size_t>(chunks), [&](std::size_t i) {
    std::int64_t begin = static_cast<std::int64_t>(i) * kElementsPerChunk;
    f(begin, std::min(begin + kElementsPerChunk, count));
  });
}

// The elements of a shape in row-major order, together with their offsets in N tensors with strides of their own (in elements, one per
// axis). Axes that lie in memory as one are walked as one, so that the innermost runs are long.
template <std::size_t N>
class StridedWalk {
 public:
  using Offsets = std::array<std::int64_t, N>;

  StridedWalk(const Shape& shape, const std::array<std::vector<std::int64_t>, N>& strides) {
    count_ = shape.volume().value_or(0);
    for (std::size_t axis = 0; axis < shape.rank() && count_ != 0; ++axis) {
      if (shape[axis] == 1) continue;
      Axis next{shape[axis], {}};
      for (std::size_t k = 0; k < N; ++k) next.strides[k] = strides[k][axis];
      if (!axes_.empty() && joins(axes_.back(), next)) {
        next.size *= axes_.back().size;
        axes_.back() = next;
      } else {
        axes_.push_back(next);
      }
    }
    if (axes_.empty()) axes_.push_back({1, {}});
  }

  std::int64_t count() const { return count_; }
  // The strides within a run.
  const Offsets& inner_strides() const { return axes_.back().strides; }

  // f(position, offsets, length) for each run of elements from `begin` to `end`.
  template <class F>
  void run(std::int64_t begin, std::int64_t end, F&& f) const {
    std::size_t inner = axes_.size() - 1;
    std::vector<std::int64_t> at(axes_.size());
    Offsets offsets{};
    std::int64_t rest = begin;
    for (std::size_t i = axes_.size(); i-- > 0;) {
      at[i] = rest % axes_[i].size;
      rest /= axes_[i].size;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += at[i] * axes_[i].strides[k];
    }
    for (std::int64_t position = begin; position < end;) {
      std::int64_t length = std::min(axes_[inner].size - at[inner], end - position);
      f(position, offsets, length);
      position += length;
      move(inner, length, at, offsets);
      for (std::size_t i = inner; i > 0 && at[i] == axes_[i].size; --i) {
        move(i, -at[i], at, offsets);
        move(i - 1, 1, at, offsets);
      }
    }
  }

 private:
  struct Axis {
    std::int64_t size = 1;
    Offsets strides{};
  };

  static bool joins(const Axis& outer, const Axis& inner) {
    for (std::size_t k = 0; k < N; ++k)
      if (outer.strides[k] != inner.strides[k] * inner.size) return false;
    return true;
  }

  void move(std::size_t axis, std::int64_t steps, std::vector<std::int64_t>& at, Offsets& offsets) const {
    at[axis] += steps;
    for (std::size_t k = 0; k < N; ++k) offsets[k] += steps * axes_[axis].strides[k];
  }

  std::int64_t count_ = 0;
  std::vector<Axis> axes_;
};

}  // namespace buda::ops
