// SPDX-License-Identifier: Apache-2.0
// Shortest routes by breadth-first search over the links with free streams.
#include <buda/pipes/interchip/route_allocator.hpp>

#include <deque>
#include <limits>

namespace buda::pipes {

RouteAllocator::RouteAllocator(const device::DeviceDescriptor& device, const device::Cluster& cluster)
    : ends_(static_cast<std::size_t>(device.chips)) {
  streams_per_link_ = cluster.eth_core.link_streams.empty() ? std::numeric_limits<std::int64_t>::max()
                                                            : static_cast<std::int64_t>(cluster.eth_core.link_streams.size());
  for (const device::EthLink& link : links_of(cluster, device)) {
    if (!is_chip(link.chip) || !is_chip(link.to_chip)) continue;
    ends_[static_cast<std::size_t>(link.chip)].push_back({link, used_.size()});
    ends_[static_cast<std::size_t>(link.to_chip)].push_back({{link.to_chip, link.to_channel, link.chip, link.channel}, used_.size()});
    used_.push_back(0);
  }
}

RouteAllocator::Distances RouteAllocator::distances_to(std::int32_t chip, bool only_free) const {
  Distances distance(ends_.size(), -1);
  std::deque<std::int32_t> next{chip};
  distance[static_cast<std::size_t>(chip)] = 0;
  while (!next.empty()) {
    std::int32_t here = next.front();
    next.pop_front();
    for (const End& end : ends_[static_cast<std::size_t>(here)]) {
      std::int32_t& there = distance[static_cast<std::size_t>(end.link.to_chip)];
      if (there >= 0 || (only_free && !has_free_stream(end))) continue;
      there = distance[static_cast<std::size_t>(here)] + 1;
      next.push_back(end.link.to_chip);
    }
  }
  return distance;
}

const RouteAllocator::Distances& RouteAllocator::known_distances(std::map<std::int32_t, Distances>& known, std::int32_t chip,
                                                                 bool only_free) {
  auto it = known.find(chip);
  return it != known.end() ? it->second : known.emplace(chip, distances_to(chip, only_free)).first->second;
}

bool RouteAllocator::connected(std::int32_t from, std::int32_t to) {
  return is_chip(from) && is_chip(to) && known_distances(all_distances_, to, false)[static_cast<std::size_t>(from)] >= 0;
}

// The links from chips that can be reached from this one to those that cannot.
std::vector<device::EthLink> RouteAllocator::saturated_around(std::int32_t chip) const {
  std::vector<device::EthLink> out;
  const Distances reached = distances_to(chip, true);
  for (std::size_t here = 0; here < ends_.size(); ++here)
    for (const End& end : ends_[here])
      if (reached[here] >= 0 && reached[static_cast<std::size_t>(end.link.to_chip)] < 0) out.push_back(end.link);
  return out;
}

std::vector<device::EthLink> RouteAllocator::saturated_between(std::int32_t from, std::int32_t to) const {
  if (!is_chip(from) || !is_chip(to)) return {};
  std::vector<device::EthLink> out = saturated_around(from), in = saturated_around(to);
  if (out.size() <= in.size()) return out;
  for (device::EthLink& l : in) l = {l.to_chip, l.to_channel, l.chip, l.channel};
  return in;
}

std::optional<device::EthLink> RouteAllocator::link(std::int32_t chip, std::int32_t channel) const {
  const End* end = end_at(chip, channel);
  return end == nullptr ? std::nullopt : std::optional(end->link);
}

std::optional<std::int64_t> RouteAllocator::free_streams(std::int32_t chip, std::int32_t channel) const {
  const End* end = end_at(chip, channel);
  return end == nullptr ? std::nullopt : std::optional(streams_per_link_ - used_[end->number]);
}

void RouteAllocator::use(const End& end, ChipRoute& route) {
  route.push_back(end.link);
  if (++used_[end.number] == streams_per_link_) free_distances_.clear();
}

void RouteAllocator::release(const ChipRoute& route) {
  for (const device::EthLink& link : route) --used_[end_at(link.chip, link.channel)->number];
  free_distances_.clear();
}

const RouteAllocator::End* RouteAllocator::end_at(std::int32_t chip, std::int32_t channel) const {
  if (!is_chip(chip)) return nullptr;
  for (const End& end : ends_[static_cast<std::size_t>(chip)])
    if (end.link.channel == channel) return &end;
  return nullptr;
}

std::optional<ChipRoute> RouteAllocator::allocate(std::int32_t from, std::int32_t to) {
  if (!is_chip(from) || !is_chip(to)) return std::nullopt;
  ChipRoute route;
  for (std::int32_t here = from; here != to; here = route.back().to_chip) {
    // A link that this route saturates is behind `here`, so the distances ahead remain valid.
    const Distances& distance = known_distances(free_distances_, to, true);
    const std::int32_t left = distance[static_cast<std::size_t>(here)];
    if (left < 0) return std::nullopt;
    const End* best = nullptr;
    for (const End& end : ends_[static_cast<std::size_t>(here)]) {
      if (distance[static_cast<std::size_t>(end.link.to_chip)] != left - 1 || !has_free_stream(end)) continue;
      if (best == nullptr || used_[end.number] < used_[best->number]) best = &end;
    }
    use(*best, route);
  }
  return route;
}

std::optional<ChipRoute> RouteAllocator::allocate_shortest(std::int32_t from, std::int32_t to) {
  if (!connected(from, to)) return std::nullopt;
  const auto here = static_cast<std::size_t>(from);
  if (known_distances(free_distances_, to, true)[here] != known_distances(all_distances_, to, false)[here]) return std::nullopt;
  return allocate(from, to);
}

std::optional<ChipRoute> RouteAllocator::allocate_between(std::int32_t from, std::int32_t channel, std::int32_t to,
                                                          std::int32_t to_channel) {
  const End *out = end_at(from, channel), *in = end_at(to, to_channel);
  if (out == nullptr || in == nullptr || !has_free_stream(*out) || !has_free_stream(*in)) return std::nullopt;
  ChipRoute route, last;
  use(*out, route);
  if (out->number == in->number) {
    if (out->link.to_chip == to) return route;
    release(route);
    return std::nullopt;
  }
  const device::EthLink& l = in->link;
  use({{l.to_chip, l.to_channel, l.chip, l.channel}, in->number}, last);
  auto between = allocate(out->link.to_chip, l.to_chip);
  if (!between) {
    release(route);
    release(last);
    return std::nullopt;
  }
  route.insert(route.end(), between->begin(), between->end());
  route.push_back(last.front());
  return route;
}

}  // namespace buda::pipes
