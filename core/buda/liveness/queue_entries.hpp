// SPDX-License-Identifier: Apache-2.0
// What the executions of an epoch find in the queues that ops both write and read. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/pipes/plan/epochs.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::liveness {

// Entries that an epoch can read and write from its beginning on, and how many are free again for each that it has read.
struct QueueEntries {
  std::int64_t ready = 0, room = 0, frees = 0;
  friend auto operator<=>(const QueueEntries&, const QueueEntries&) = default;
};
using EntriesByQueue = std::map<std::size_t, QueueEntries>;  // by index in Netlist::queues; the others have all that is needed

// The distinct beginnings of each epoch, when all programs run once, in the order of
// runtime::program_order, with parameters of 1. The host fills and
// empties its queues whenever that is needed, so that queues which it writes, or which nobody but the host reads, are no reason to wait;
// nor is what another epoch has to have written before.
Result<std::vector<std::vector<EntriesByQueue>>> beginnings(const netlist::Netlist& netlist, const std::vector<pipes::Epoch>& epochs);

}  // namespace buda::liveness
