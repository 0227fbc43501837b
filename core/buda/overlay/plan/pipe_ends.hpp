// SPDX-License-Identifier: Apache-2.0
// The sources and receivers that a pipe of the file names. Internal to the module.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::overlay {

// The buffers of one output group. An id that is no buffer is a violation (OV002).
std::optional<std::vector<const Buffer*>> resolve_group(const EpochInput& in, const Pipe& pipe, const std::vector<Id>& ids,
                                                        Violations& violations);

// The output groups of a pipe, none of them empty.
std::optional<std::vector<std::vector<const Buffer*>>> resolve_outputs(const EpochInput& in, const Pipe& pipe, Violations& violations);

struct PipeInputs {
  std::vector<const Buffer*> sources;  // each once, in order of first use
  std::vector<Block> blocks;           // of one pass, in order
  std::int64_t pass_tiles = 0;         // sum of the blocks
};

// The blocks of one pass. `first_output` is named in violations. `blocks_so_far` counts the blocks of all pipes of the epoch, which are
// limited, because a short list may repeat itself very often; it is increased.
std::optional<PipeInputs> resolve_inputs(const EpochInput& in, const Pipe& pipe, const Buffer& first_output, std::int64_t& blocks_so_far,
                                         Violations& violations);

}  // namespace buda::overlay
