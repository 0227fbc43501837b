// SPDX-License-Identifier: Apache-2.0
// How the phases of pipes that lead to a common input are numbered. Internal to the module.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::overlay {

// Tiles of a pass that one source gives and one part of the plan takes.
struct Piece {
  std::int32_t source = -1;  // index in PipePlan::sources; -1: DRAM, where the source makes no difference
  std::int64_t offset = 0, tiles = 0;
  std::size_t part = 0;  // index in PipePlan::parts
};
// The pieces of a pass, in order.
std::vector<Piece> pieces_of(const PipePlan& plan);

// Ids are (pass * slots + slot) * segments + segment. A segment is a piece, or a part of it that one phase can have; each round of padding
// has a slot of its own, before or after that of the tiles.
struct PassNumbering {
  std::int64_t passes = 0;    // in the epoch
  std::int64_t period = 1;    // passes after which everything repeats: it divides `passes`
  std::int64_t segments = 1;  // the maximum over the pipes
  std::int64_t slots = 1;
  struct OfPipe {
    std::vector<Piece> pieces;
    std::int64_t slots_before = 0;  // for padding
  };
  std::vector<OfPipe> pipes;  // in step with the component

  std::int64_t ids_per_pass() const { return slots * segments; }
  std::int64_t id(std::int64_t pass, std::int64_t slot) const { return (pass * slots + slot) * segments; }
};

// The pipes of a component have equally many passes. The period is the least common multiple of the number of round-robin groups of each
// part and of the number of windows in each source's buffer, if it divides the passes; else all of them.
PassNumbering number_passes(const EpochInput& in, const std::vector<const PipePlan*>& component);

}  // namespace buda::overlay
