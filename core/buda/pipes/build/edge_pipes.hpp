// SPDX-License-Identifier: Apache-2.0
// The pipes of one edge.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/interchip/transfer.hpp>

#include <vector>

namespace buda::pipes {

struct EdgePipes {
  std::vector<Pipe> complete;             // within a chip, or over PCIe
  std::vector<InterChipPipe> inter_chip;  // still to be cut (cut_pipes(), cut_copy())
};

}  // namespace buda::pipes
