// SPDX-License-Identifier: Apache-2.0
// Waiting that ends: at a time that the caller names, or a while after everything stands still (timeout.hpp).
#pragma once

#include <buda/runtime/timeout.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace buda::runtime {

// Whether something computes, and since when nothing does. Guarded by the mutex of what it is about.
class Stillness {
 public:
  void set(bool computes) {
    if (computes_ && !computes) since_ = std::chrono::steady_clock::now();
    computes_ = computes;
  }
  bool computes() const { return computes_; }
  std::chrono::steady_clock::time_point since() const { return since_; }

 private:
  bool computes_ = false;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

class Patience {
 public:
  explicit Patience(Timeout timeout) : begin_(std::chrono::steady_clock::now()) {
    if (timeout) end_ = begin_ + std::min<std::chrono::milliseconds>(*timeout, kLongest);
  }

  // Waits for what `holds` says; false when it does not come in time. All changes, of `stillness` too, are told by `changed`.
  template <class Holds>
  bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const Stillness& stillness, Holds holds) const {
    while (!holds()) {
      if (!end_ && stillness.computes()) {
        changed.wait(lock);
        continue;
      }
      const auto end = end_ ? *end_ : std::max(begin_, stillness.since()) + kPatience;
      if (changed.wait_until(lock, end) == std::cv_status::no_timeout) continue;
      if (end_ || !stillness.computes()) return holds();
    }
    return true;
  }

 private:
  // A time-out as long as its type allows cannot be added to the time of day.
  static constexpr std::chrono::hours kLongest{24 * 365};
  std::chrono::steady_clock::time_point begin_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace buda::runtime
