// SPDX-License-Identifier: Apache-2.0
// Random netlists with one edge of interest: any producer blocking, any chain of manipulations, any consumer.
#pragma once

#include <buda/base/rng.hpp>

#include <cstdlib>
#include <string>

namespace buda::pipes {

// A netlist in which a queue or an op (with a queue in front of it) feeds an op, whose output goes to a queue. Shapes always agree; whether
// stacked buffers can be handed out in the order that the consumer wants is left to chance. Where the tiles of an input repeat, the kernel
// may keep them (kernel_broadcast, mostly per t). With more than one chip, each part of the
// netlist stands on any of them, no queue is read before the epoch, and an ethernet_datacopy may stand between the two ops (two chips
// then) unless they are Grayskulls.
std::string random_netlist(Rng& rng, std::int32_t chips = 1, const std::string& arch = "wormhole_b0");

// How many netlists a test draws: `usual`, or what BUDA_RANDOM_NETLISTS says, for long runs.
inline int netlists_wanted(int usual) {
  const char* asked = std::getenv("BUDA_RANDOM_NETLISTS");
  return asked == nullptr ? usual : std::atoi(asked);
}

}  // namespace buda::pipes
