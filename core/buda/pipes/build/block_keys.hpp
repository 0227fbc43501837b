// SPDX-License-Identifier: Apache-2.0
// Keys of buffers that state the blocking of the op that writes them.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>

namespace buda::pipes {

// `k`: how often the kernel goes over the block.
void set_block(Buffer& buffer, const netlist::BlockShape& block, std::int32_t k);
// Nothing, unless the op's output is untilized.
void set_untilized(Buffer& buffer, const netlist::Op& op);

}  // namespace buda::pipes
