// SPDX-License-Identifier: Apache-2.0
// Ids for new buffers and pipes.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>

#include <utility>

namespace buda::pipes {

class IdSequence {
 public:
  explicit IdSequence(Id first) : next_(first) {}
  Id next() { return std::exchange(next_, next_ + kIdStep); }

 private:
  Id next_;
};

}  // namespace buda::pipes
