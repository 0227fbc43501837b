// SPDX-License-Identifier: Apache-2.0
// Tables of movers, gone through without a simulator: each core's records, kernels that take and make tiles, and L1 by address. What
// arrives is compared with what the streams of the blob would bring.
#pragma once

#include <buda/movers/lower.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <string>

namespace buda::movers {

// What somebody could have written wrong in the firmware or the words, which no table shows.
struct Defects {
  bool flag_before_data = false;  // a sender tells of tiles before it has written them
  bool frees_early = false;       // what is sent is free before the last record has sent it
  bool ignores_room = false;      // a sender does not look at credits
  bool keeps_credits = false;     // a receiver does not tell what is free
  bool forgets_group = false;     // a group is free after its first turn
  bool copies_early = false;      // a group is copied before it is all there
};

// The first thing that is wrong: a tile that overwrites one that is still needed, one that was never there, an order that is not the
// blob's, a word with two writers, a credit that does not come back, a wait for ever. Empty: nothing is. Records and kernels that have
// something to do do it, or, with a seed, leave it for later every other time.
std::string wrong_with(const overlay::Blob& blob, const Execution& execution, const Tables& tables, std::uint32_t seed = 0,
                       const Defects& defects = {});

}  // namespace buda::movers
