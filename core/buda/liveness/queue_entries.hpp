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
#include <set>
#include <vector>

namespace buda::liveness {

// Entries that an epoch can read and write from its beginning on, and how many are free again for each that it has read.
struct QueueEntries {
  std::int64_t ready = 0, room = 0, frees = 0;
  friend auto operator<=>(const QueueEntries&, const QueueEntries&) = default;
};
using EntriesByQueue = std::map<std::size_t, QueueEntries>;  // by index in Netlist::queues; the others have all that is needed

struct Beginnings {
  std::vector<std::vector<EntriesByQueue>> by_epoch;
  // Queues whose writer follows from what is read of them: nothing comes before somebody outside of the netlist gives the first entry. It
  // is taken to be there.
  std::set<std::size_t> begun;
};

// The distinct beginnings of each epoch, when all programs run once, in the order of
// runtime::program_order, with parameters of 1. The host fills and
// empties its queues whenever that is needed, so that queues which it writes, or which nobody but the host reads, are no reason to wait;
// nor is what another epoch has to have written before.
Result<Beginnings> beginnings(const netlist::Netlist& netlist, const std::vector<pipes::Epoch>& epochs);

}  // namespace buda::liveness
