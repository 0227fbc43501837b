// SPDX-License-Identifier: Apache-2.0
// Pipes that share their reads (dram_pipe_num_forks), as the netlist requests with forked_dram_inputs. Internal to the module.
//
// One of them reads, and the others send what it has read, each with a stream of its own from the same buffer. A tile leaves that buffer
// when the slowest has sent it, so the receivers stall each other. That is safe for two ops that are otherwise independent: no op that both
// take from or lead to, and no other reads that they share. Otherwise it may deadlock: one op waits for a tile that is behind one for which
// the other has no space, while that one waits for data that depend on the first. Such pipes read for themselves, as do those for which the
// core that would read has no stream left.
#pragma once

#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace buda::overlay {

// In step with PipePlans::pipes.
struct SharedReads {
  std::vector<std::optional<std::size_t>> reader;  // the plan that reads what this one brings; none: it reads for itself, or not at all
  std::vector<bool> reads_for_others;

  bool empty() const;
  // Whether the plan takes part in sharing.
  bool is_shared(std::size_t plan) const { return reads_for_others[plan] || reader[plan].has_value(); }
};

// Those whose sharing saves most come first.
SharedReads share_reads(const EpochInput& in, const CoreMap& cores, const PipePlans& plans);
// Each pipe reads for itself.
SharedReads no_shared_reads(const PipePlans& plans);

// Index of the core where the plan's tiles arrive from DRAM if it reads for itself.
std::int32_t reading_core(const CoreMap& cores, const PipePlan& plan);

}  // namespace buda::overlay
