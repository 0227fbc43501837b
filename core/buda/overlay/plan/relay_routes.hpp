// SPDX-License-Identifier: Apache-2.0
// Pipes that are connected by relay buffers are planned as one: from the first, which has the sources and the order of blocks, over the
// relays to the last, which have the outputs. Each relay buffer is a stream that receives and sends on, so the phases of the whole route
// are numbered together. Several pipes may take from one relay, each a part of every pass; there the routes branch. Internal to the module.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::overlay {

// The pipes that take from each relay buffer, in order of the file.
using RelayReaders = std::map<Id, std::vector<const Pipe*>>;
RelayReaders index_relay_readers(const EpochInput& in);

// Whether a pipe carries on what another one brings to a relay buffer.
bool starts_at_relay(const EpochInput& in, const Pipe& pipe);

// What the output groups of a pipe lead to at the ends of the routes.
struct RelayRoutes {
  std::vector<std::vector<const Buffer*>> groups;  // none is a relay
  std::vector<RelayRoute> routes;                  // per group
  std::vector<Part> parts;                         // cover [0, pass_tiles) in order
};

// `groups` are the outputs of `pipe`, which moves `pass_tiles` in a pass. Violations: OV001 for relays that reorder tiles, OV002 for routes
// that are cyclic, have no end, or take tiles twice or not at all.
std::optional<RelayRoutes> follow_relays(const EpochInput& in, const RelayReaders& readers, const Pipe& pipe,
                                         const std::vector<std::vector<const Buffer*>>& groups, std::int64_t pass_tiles,
                                         Violations& violations);

// A relay buffer that is on no route receives nothing (OV002).
void check_relays(const EpochInput& in, const std::vector<PipePlan>& plans, Violations& violations);

}  // namespace buda::overlay
