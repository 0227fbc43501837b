// SPDX-License-Identifier: Apache-2.0
// A parallel loop on plain threads with a shared counter.
#include <buda/base/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace buda {

void parallel_for(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& body) {
  std::size_t workers = std::min<std::size_t>(std::max(threads, 1u), count);
  if (workers <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  std::size_t failure_index = count;
  auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        std::lock_guard lock(failure_mutex);
        if (i < failure_index) {
          failure_index = i;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    pool.reserve(workers - 1);
    for (std::size_t i = 1; i < workers; ++i) pool.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace buda
