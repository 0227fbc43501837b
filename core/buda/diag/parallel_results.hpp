// SPDX-License-Identifier: Apache-2.0
// Work that can fail, shared between threads.
//
//   BUDA_ASSIGN(std::vector<Blob> blobs, parallel_results(host.threads, epochs.size(), [&](std::size_t i) { return blob_of(epochs[i]); }));
#pragma once

#include <buda/base/parallel.hpp>
#include <buda/diag/result.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace buda {

// The values of make(i), which returns a Result<T>, for each i in [0, count) and in that order; or the failures of all that fail, in order.
// At most `threads` at a time.
template <class Make>
auto parallel_results(unsigned threads, std::size_t count, Make&& make)
    -> Result<std::vector<typename decltype(make(std::size_t{}))::value_type>> {
  std::vector<std::optional<decltype(make(std::size_t{}))>> made(count);
  parallel_for(threads, count, [&](std::size_t i) { made[i] = make(i); });
  Failure failure;
  std::vector<typename decltype(make(std::size_t{}))::value_type> out;
  out.reserve(count);
  for (auto& result : made) {
    if (*result) {
      out.push_back(std::move(**result));
    } else {
      failure.add(std::move(*result).failure());
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda
