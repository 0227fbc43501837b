// SPDX-License-Identifier: Apache-2.0
// Free bytes of DRAM channels, epoch by epoch: dynamic queues that are not alive at the same time share memory.
#pragma once

#include <buda/balance/policy/epoch_span.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::balance {

// Counts bytes; it does not know how they lie in a channel (dram.hpp). O(log epochs) for each call.
class ChannelRoom {
 public:
  // Free bytes by channel. `epochs`: no lifetime ends later.
  ChannelRoom(std::vector<std::uint64_t> bytes, std::int32_t epochs);

  std::size_t channels() const { return bytes_.size(); }
  // Bytes that are free in all epochs of a lifetime.
  std::uint64_t left(std::size_t channel, const Lifetime& life) const;
  // More than is left may be taken: nothing is left then.
  void take(std::size_t channel, std::uint64_t bytes, const Lifetime& life) { add(channel, static_cast<std::int64_t>(bytes), life); }
  void give_back(std::size_t channel, std::uint64_t bytes, const Lifetime& life) { add(channel, -static_cast<std::int64_t>(bytes), life); }

 private:
  // Bytes of dynamic queues by epoch, as a binary tree over epochs. `most`: of the node's epochs, without what was added to the nodes
  // above it.
  struct Node {
    std::int64_t added = 0, most = 0;
  };
  using Tree = std::vector<Node>;

  struct Range {
    std::size_t node = 1;
    std::int32_t first = 0, last = 0;
  };

  void add(std::size_t channel, std::int64_t bytes, const Lifetime& life);
  static void add_in(Tree& tree, Range at, const EpochSpan& span, std::int64_t bytes);
  static std::int64_t most_in(const Tree& tree, Range at, const EpochSpan& span);

  std::vector<std::uint64_t> bytes_;
  std::vector<std::int64_t> always_;  // by channel: bytes of what lives always
  std::vector<Tree> trees_;           // by channel
  std::int32_t last_epoch_ = 0;
};

}  // namespace buda::balance
