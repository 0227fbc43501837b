// SPDX-License-Identifier: Apache-2.0
// Writing of queues. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/dram_table.hpp>
#include <buda/overlay/violations.hpp>

#include <cstddef>
#include <optional>

namespace buda::overlay {

// What `stream` writes to `queue`: the tiles of source `source` of the plan, which come directly from there or over a chain of streams.
// OV001, OV002.
std::optional<DramWrite> write_of_plan(const PipePlan& plan, std::size_t source, const Buffer& queue, const Stream& stream, bool over_chain,
                                       DramTable& dram, Violations& violations);

}  // namespace buda::overlay
