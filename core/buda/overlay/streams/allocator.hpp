// SPDX-License-Identifier: Apache-2.0
// Second step: the streams that carry the pipes. Internal to the module.
//
// Kernels have streams of their own: an input's receives, an output's sends. An output from which several pipes take sends once with its
// own stream, and once with a fork for each further pipe. A pipe that reaches several cores passes through a multicast stream on the core
// where its row or column begins, which receives from the producers one after the other. What is read into L1 before the epoch is sent from
// there by a stream for each pipe. Queues are read into the stream that needs the tiles: the kernel's input, or the multicast; and written
// by the one that has them.
#pragma once

#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/allocation.hpp>
#include <buda/overlay/streams/shared_reads.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// Streams by order of buffers and pipes in the file. With violations (OV001, OV002, OV010, OV012, OV013, OV018) it is incomplete.
StreamAllocation allocate_streams(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const SharedReads& sharing,
                                  Violations& violations);

}  // namespace buda::overlay
