// SPDX-License-Identifier: Apache-2.0
// Routes from chip to chip over Ethernet, and the streams of the links that they use.
#pragma once

#include <buda/device/cluster.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::pipes {

// The links from one chip to another, in order, each written in the direction of travel. Empty within a chip.
using ChipRoute = std::vector<device::EthLink>;

// Allocates routes and counts the free streams of each link: a route uses one stream at both ends of each of its links, in whichever
// direction it goes. Among routes of equal length, and among parallel links, the least used come first, so that edges spread over the
// links. The result depends on nothing but the order of the calls.
class RouteAllocator {
 public:
  // Without link_streams in the cluster the number of streams of a link is unlimited.
  RouteAllocator(const device::DeviceDescriptor& device, const device::Cluster& cluster);

  // A route with the fewest links among those with free streams: a detour where the direct ones are saturated. Nothing if there is none.
  // O(chips + links) for the first route to a chip after a link became saturated, then O(length * links of a chip).
  std::optional<ChipRoute> allocate(std::int32_t from, std::int32_t to);
  // Only if no saturated route is shorter.
  std::optional<ChipRoute> allocate_shortest(std::int32_t from, std::int32_t to);
  // A route that begins with one link and ends with another, or consists of one link: given by the channel at its beginning and the
  // channel at its end.
  std::optional<ChipRoute> allocate_between(std::int32_t from, std::int32_t channel, std::int32_t to, std::int32_t to_channel);
  // Frees the streams of a route that is not needed.
  void release(const ChipRoute& route);

  // Whether there is a route at all, with free streams or without.
  bool connected(std::int32_t from, std::int32_t to);
  // Why connected chips have no free route: saturated links, one of which every route must use, written outwards from `from`. Those around
  // all chips that can be reached from it, or around all from which `to` can be reached, whichever are fewer. O(chips + links)
  std::vector<device::EthLink> saturated_between(std::int32_t from, std::int32_t to) const;
  std::int64_t streams_per_link() const { return streams_per_link_; }
  // The link at a channel, outwards.
  std::optional<device::EthLink> link(std::int32_t chip, std::int32_t channel) const;
  // Free streams of the link at a channel; nothing where there is no link.
  std::optional<std::int64_t> free_streams(std::int32_t chip, std::int32_t channel) const;

 private:
  struct End {
    device::EthLink link;    // outwards
    std::size_t number = 0;  // of the link
  };
  using Distances = std::vector<std::int32_t>;  // in links; -1 for chips without a route
  Distances distances_to(std::int32_t chip, bool only_free) const;
  const Distances& known_distances(std::map<std::int32_t, Distances>& known, std::int32_t chip, bool only_free);
  std::vector<device::EthLink> saturated_around(std::int32_t chip) const;
  const End* end_at(std::int32_t chip, std::int32_t channel) const;
  bool is_chip(std::int32_t chip) const { return chip >= 0 && static_cast<std::size_t>(chip) < ends_.size(); }
  bool has_free_stream(const End& end) const { return used_[end.number] < streams_per_link_; }
  void use(const End& end, ChipRoute& route);

  std::vector<std::vector<End>> ends_;  // per chip
  std::vector<std::int64_t> used_;      // streams, per link
  std::int64_t streams_per_link_ = 0;
  std::map<std::int32_t, Distances> free_distances_, all_distances_;  // by destination: over links with free streams, over all links
};

}  // namespace buda::pipes
