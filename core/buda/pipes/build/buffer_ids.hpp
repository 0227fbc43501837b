// SPDX-License-Identifier: Apache-2.0
// Ids of an epoch's buffers.
#pragma once

#include <buda/pipes/graph/id_sequence.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <vector>

namespace buda::pipes {

struct OpBufferIds {
  std::vector<std::vector<Id>> inputs;         // per input and core
  std::vector<std::vector<Id>> shares;         // per input: the prologue's shares, as its routes number their destinations
  std::vector<Id> outputs;                     // per core; empty for gradient ops and drainers
  std::vector<std::vector<Id>> intermediates;  // per core
};

struct BufferIds {
  std::vector<OpBufferIds> ops;                         // as in the plan
  std::vector<std::vector<std::vector<Id>>> prologues;  // per queue of the plan and reader: ids of a copy of its buffers
};

// Whether an op has output buffers.
bool has_outputs(const netlist::Op& op);

// New ids are first those of prologue queues, whose first reader has the buffers with the queue's own ids; then those of each op.
BufferIds number_buffers(const EpochPlan& plan, IdSequence& ids);

}  // namespace buda::pipes
