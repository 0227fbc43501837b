// SPDX-License-Identifier: Apache-2.0
// Pipes into the inputs of ops.
#pragma once

#include <buda/pipes/build/edge_pipes.hpp>
#include <buda/pipes/build/padding_buffers.hpp>
#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/id_sequence.hpp>

#include <vector>

namespace buda::pipes {

// One pipe for each route of an input: into the kernel's buffers, or into the shares of a prologue. `edge` numbers the edge among those of
// the epoch.
EdgePipes input_pipes(const PlacedEpoch& epoch, std::size_t op, std::size_t input, std::size_t edge, IdSequence& ids,
                      PaddingBuffers& padding);

// The second step of a prologue in shares: the shares of a column, one after the other, to all cores of the column. Nothing for other
// inputs.
std::vector<Pipe> share_pipes(const PlacedEpoch& epoch, std::size_t op, std::size_t input, IdSequence& ids);

}  // namespace buda::pipes
