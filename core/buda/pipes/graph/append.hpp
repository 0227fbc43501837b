// SPDX-License-Identifier: Apache-2.0
// Concatenates lists of buffers and pipes.
#pragma once

#include <iterator>
#include <utility>
#include <vector>

namespace buda::pipes {

// Moves the elements of `more` to the end of `list`.
template <class T>
void append(std::vector<T>& list, std::vector<T>&& more) {
  if (list.empty()) {
    list = std::move(more);
  } else {
    list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
}

}  // namespace buda::pipes
