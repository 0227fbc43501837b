// SPDX-License-Identifier: Apache-2.0
// Buffers shared out among channels, or halves of channels, so that none has much more to move in an epoch than the others.
#pragma once

#include <buda/balance/queues/channel_room.hpp>
#include <buda/balance/queues/queue_loads.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

struct LoadedBuffer {
  std::uint64_t bytes = 0;  // that it takes
  std::vector<BufferLoad> loads;
  std::int32_t fixed = -1;  // its channel, if that is not open
  bool takes_room = true;   // of what `room` says is free
  Lifetime life = {};
  std::vector<BufferTurn> turns = {};
};

// The channel of each buffer; one that fits nowhere gets channel 0. `of_halves`: `room` is that of the halves of channels, 2n and 2n + 1
// those of channel n.
std::vector<std::int32_t> place_by_load(const std::vector<LoadedBuffer>& buffers, ChannelRoom room, bool of_halves = false);

}  // namespace buda::balance
