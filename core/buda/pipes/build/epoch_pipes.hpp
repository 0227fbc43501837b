// SPDX-License-Identifier: Apache-2.0
// The pipes of all edges of an epoch.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/build/dram_readers.hpp>
#include <buda/pipes/build/padding_table.hpp>
#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/id_sequence.hpp>
#include <buda/pipes/interchip/relays.hpp>
#include <buda/pipes/interchip/transfer.hpp>

#include <vector>

namespace buda::pipes {

struct EpochPipes {
  std::vector<Pipe> complete;
  std::vector<InterChipPipe> inter_chip;  // still to be routed and cut; those of an edge are consecutive
  std::vector<Buffer> relays;             // of copies in rounds (cut_copy()), whose pipes are complete
  std::vector<Buffer> padding;
  std::vector<QueueRead> reads;
};

// Op by op: its inputs, then the queues that it writes. Errors as of cut_copy().
Result<EpochPipes> epoch_pipes(const PlacedEpoch& epoch, const PaddingTable& padding, IdSequence& ids, RelayAllocator& relays);

}  // namespace buda::pipes
