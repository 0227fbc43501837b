// SPDX-License-Identifier: Apache-2.0
// How long flows take that share links and memories by chance: an approximate mean value analysis of a closed queueing network.
//
// Each flow is a customer that visits one way after the other, and on each shares every part of the way equally with the flows that are
// there. Flows with nothing between them meet at random: a flow finds another at a part for as much of the time as that is there on average
// (Bard's and Schweitzer's approximation). So parts that would be busy for less than all of the time still hold flows up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace buda::cost {

// Of one input.
struct FlowVisit {
  std::vector<std::uint32_t> parts;
  double bytes = 0;
  double latency = 0;  // cycles that answers take, as if one came after the other
};

struct SharingFlow {
  std::size_t op = 0;    // flows of an op are active at the same time
  double transfers = 1;  // under way at once
  std::vector<FlowVisit> visits;
};

// `rates`: bytes per cycle of each part. `kernels`: cycles of each op besides its flows. `inputs`: of the epoch; one input passes the ops
// one after the other, so that flows of different ops meet less. `interval`: cycles from one input to the next at least. Returns the cycles
// of each flow, for one input. O(parts of visits) for each of a few rounds.
std::vector<double> contended_times(std::span<const SharingFlow> flows, std::span<const double> rates, std::span<const double> kernels,
                                    double inputs, double interval = 0);

}  // namespace buda::cost
