// SPDX-License-Identifier: Apache-2.0
// Reads of DRAM that several ops of an epoch share (forked_dram_inputs).
#pragma once

#include <buda/balance/queues/queues.hpp>
#include <buda/netlist/model/netlist.hpp>

namespace buda::balance {

// Lets an op that takes the same tiles of a queue in the same order as one before it in its graph take them of that op's reads. Inputs that
// are loaded before the epoch, or kept by the kernel, are read once anyway and stay.
void fork_dram_inputs(netlist::Netlist& netlist, const QueueSet& queues);

}  // namespace buda::balance
