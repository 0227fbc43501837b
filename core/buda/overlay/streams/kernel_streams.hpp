// SPDX-License-Identifier: Apache-2.0
// The streams of kernels: an input's receives, an output's sends, an intermediate's keeps what the kernel accumulates. Internal to the
// module.
#pragma once

#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/streams/dram_table.hpp>
#include <buda/overlay/streams/stream_pool.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::overlay {

struct KernelStreams {
  std::map<Id, StreamRef> by_buffer;
  // Per core: bytes of the stream program, if an op there says how many they may be.
  std::vector<std::optional<std::int64_t>> program_bytes;

  // Null if the buffer is not a kernel's.
  const StreamRef* find(Id buffer) const;
};

// Adds a stream to the pool for every operand of a kernel, with the size of its buffer; operands that share memory have the larger size. A
// gradient's stream reads its ram before the epoch and writes it after. OV002, OV012, OV018.
KernelStreams make_kernel_streams(const EpochInput& in, const CoreMap& cores, StreamPool& pool, DramTable& dram, Violations& violations);

}  // namespace buda::overlay
