// SPDX-License-Identifier: Apache-2.0
// The program that runs the epochs.
#pragma once

#include <buda/balance/queues/queues.hpp>
#include <buda/host_plan/phase_parameters.hpp>
#include <buda/netlist/model/program.hpp>

#include <string>

namespace buda::balance {

// The program of a segment of the device, whose epochs follow those of segments before it. One turn of the loop takes `microbatch` entries
// of every input through all epochs. Read pointers of a queue, local and global, are static variables that advance after the last epoch
// that reads it, modulo twice its entries; rams are read at slot 0. Queues are read in one segment, rams in any.
//
// The phases of a training step are three programs (host_plan/phase_parameters.hpp). What several of them read is popped by the last one.
// States are read in the slot that a parameter says, and the optimizer, which has no loop, writes the next one. Sums of gradients are
// loaded and stored with each execution of their epoch, and begin with zero in the first of a step.
netlist::Program make_program(const Problem& problem, const Choice& choice, const QueueSet& queues, std::int32_t segment);

}  // namespace buda::balance
