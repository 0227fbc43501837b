// SPDX-License-Identifier: Apache-2.0
// Lists of tuples of numbers, stored as linear runs: a first tuple, a step, and the number of tuples. What streams do repeats, so thousands
// of phases or reads become a few runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::overlay {

template <std::size_t N>
struct Run {
  using Tuple = std::array<std::int64_t, N>;
  Tuple first{};
  Tuple step{};  // all zero when count is 1
  std::int64_t count = 1;
  Tuple at(std::int64_t i) const {
    Tuple t = first;
    for (std::size_t k = 0; k < N; ++k) t[k] += i * step[k];
    return t;
  }
  friend bool operator==(const Run&, const Run&) = default;
};

// Appends one tuple. A tuple that the last run predicts extends it; two single tuples make a run. If a run of two does not predict the
// third tuple, its second one starts a run with the third. O(N).
template <std::size_t N>
void append(std::vector<Run<N>>& runs, const std::array<std::int64_t, N>& tuple) {
  auto difference = [](const auto& a, const auto& b) {
    std::array<std::int64_t, N> d;
    for (std::size_t k = 0; k < N; ++k) d[k] = a[k] - b[k];
    return d;
  };
  if (!runs.empty()) {
    Run<N>& last = runs.back();
    if (last.count == 1) {
      last.step = difference(tuple, last.first);
      last.count = 2;
      return;
    }
    if (last.at(last.count) == tuple) {
      ++last.count;
      return;
    }
    if (last.count == 2) {
      auto second = last.at(1);
      last.step = {};
      last.count = 1;
      runs.push_back({second, difference(tuple, second), 2});
      return;
    }
  }
  runs.push_back({tuple, {}, 1});
}

template <std::size_t N>
std::int64_t count_of(const std::vector<Run<N>>& runs) {
  std::int64_t n = 0;
  for (const auto& r : runs) n += r.count;
  return n;
}

template <std::size_t N, class F>
void for_each(const std::vector<Run<N>>& runs, F&& f) {
  for (const auto& r : runs)
    for (std::int64_t i = 0; i < r.count; ++i) f(r.at(i));
}

}  // namespace buda::overlay

#pragma GCC visibility pop
