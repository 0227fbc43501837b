// SPDX-License-Identifier: Apache-2.0
// Work shared between threads with a result that does not depend on how many there are.
#pragma once

#include <cstddef>
#include <functional>

#pragma GCC visibility push(default)

namespace buda {

// Calls body(i) once for each i in [0, count), on at most `threads` threads (0 counts as 1). Which thread runs which index is
// not fixed, so bodies write to places of their own. The first exception in index order is rethrown after all threads ended.
void parallel_for(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace buda

#pragma GCC visibility pop
