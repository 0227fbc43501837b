// SPDX-License-Identifier: Apache-2.0
// Segment trees: bytes are added to spans of epochs, and the most of a span is asked for.
#include <buda/balance/queues/channel_room.hpp>

#include <algorithm>
#include <bit>

namespace buda::balance {

ChannelRoom::ChannelRoom(std::vector<std::uint64_t> bytes, std::int32_t epochs)
    : bytes_(std::move(bytes)), always_(bytes_.size(), 0), last_epoch_(std::max(epochs, 1) - 1) {
  const std::size_t leaves = std::bit_ceil(static_cast<std::size_t>(last_epoch_) + 1);
  trees_.assign(bytes_.size(), Tree(2 * leaves));
}

std::uint64_t ChannelRoom::left(std::size_t channel, const Lifetime& life) const {
  const std::int64_t dynamic = most_in(trees_[channel], {1, 0, last_epoch_}, life.value_or(EpochSpan{0, last_epoch_}));
  const std::int64_t left = static_cast<std::int64_t>(bytes_[channel]) - always_[channel] - dynamic;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(left, 0));
}

void ChannelRoom::add(std::size_t channel, std::int64_t bytes, const Lifetime& life) {
  if (life) {
    add_in(trees_[channel], {1, 0, last_epoch_}, *life, bytes);
  } else {
    always_[channel] += bytes;
  }
}

void ChannelRoom::add_in(Tree& tree, Range at, const EpochSpan& span, std::int64_t bytes) {
  if (span.last < at.first || at.last < span.first) return;
  Node& node = tree[at.node];
  if (span.first <= at.first && at.last <= span.last) {
    node.added += bytes;
    node.most += bytes;
    return;
  }
  const std::int32_t middle = at.first + (at.last - at.first) / 2;
  add_in(tree, {2 * at.node, at.first, middle}, span, bytes);
  add_in(tree, {2 * at.node + 1, middle + 1, at.last}, span, bytes);
  node.most = node.added + std::max(tree[2 * at.node].most, tree[2 * at.node + 1].most);
}

std::int64_t ChannelRoom::most_in(const Tree& tree, Range at, const EpochSpan& span) {
  if (span.last < at.first || at.last < span.first) return 0;
  const Node& node = tree[at.node];
  if (span.first <= at.first && at.last <= span.last) return node.most;
  const std::int32_t middle = at.first + (at.last - at.first) / 2;
  return node.added +
         std::max(most_in(tree, {2 * at.node, at.first, middle}, span), most_in(tree, {2 * at.node + 1, middle + 1, at.last}, span));
}

}  // namespace buda::balance
