// SPDX-License-Identifier: Apache-2.0
// Which pipes read which buffer in DRAM.
//
// The readers of a buffer free its slots together, so each pipe states how many there are and which one it is. Pipes that share their reads
// are one reader: those that transfer the same blocks to an op and to the ops that name it in forked_dram_inputs.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <optional>
#include <vector>

namespace buda::pipes {

// A pipe that reads a queue: for which op, and whether that op reads itself or shares another's reads.
struct QueueRead {
  Id pipe = 0;
  std::size_t queue = 0;   // in Netlist::queues
  std::size_t reader = 0;  // the op whose reads these are
  bool is_own = true;      // the pipe leads to the reader
};

// The reads of a pipe into an input; nothing if its source is an op.
std::optional<QueueRead> queue_read(const EpochPlan& plan, std::size_t op, std::size_t input, Id pipe);

// Numbers the readers of queues and padding among all pipes of an epoch. `reads`: one for each pipe at most.
std::vector<Pipe> number_readers(std::vector<Pipe> pipes, const std::vector<Buffer>& buffers, const std::vector<QueueRead>& reads);

}  // namespace buda::pipes
