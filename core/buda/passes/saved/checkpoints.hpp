// SPDX-License-Identifier: Apache-2.0
// Places in the forward phase from which it can be computed again part by part. Internal to the passes module.
#pragma once

#include <buda/passes/saved/forward_values.hpp>

#include <cstddef>
#include <vector>

namespace buda::passes {

struct SavedValues;

// Parts of the list of values, one after the other.
struct Segments {
  std::vector<std::size_t> of;                 // by place of a value: its segment
  std::vector<std::vector<std::size_t>> ends;  // of each but the last: the values that later ones read of it and of those before
  std::size_t count() const { return ends.size() + 1; }
};

// A step that keeps what crosses the ends of segments, and computes one segment at a time again, takes the bytes of all ends and those that
// the largest segment keeps (`kept`: without repeating products). The ends with the least sum; only where least crosses.
Segments segments_of_checkpoints(const std::vector<ForwardValue>& values, const SavedValues& kept);

}  // namespace buda::passes
