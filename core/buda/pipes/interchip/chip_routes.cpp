// Ways from chip to chip.
#include <buda/pipes/interchip/chip_routes.hpp>

#include <deque>
#include <limits>

namespace buda::pipes {

ChipRoutes::ChipRoutes(const device::DeviceDescriptor& device, const device::Cluster& cluster)
    : ends_(static_cast<std::size_t>(device.chips)) {
  most_ = cluster.eth_core.link_streams.empty() ? std::numeric_limits<std::int64_t>::max()
                                                : static_cast<std::int64_t>(cluster.eth_core.link_streams.size());
  for (const device::EthLink& link : links_of(cluster, device)) {
    if (!is_chip(link.chip) || !is_chip(link.to_chip)) continue;
    ends_[static_cast<std::size_t>(link.chip)].push_back({link, used_.size()});
    ends_[static_cast<std::size_t>(link.to_chip)].push_back({{link.to_chip, link.to_channel, link.chip, link.channel}, used_.size()});
    used_.push_back(0);
  }
}

ChipRoutes::Distances ChipRoutes::distances_to(std::int32_t chip, bool with_room) const {
  Distances distance(ends_.size(), -1);
  std::deque<std::int32_t> next{chip};
  distance[static_cast<std::size_t>(chip)] = 0;
  while (!next.empty()) {
    std::int32_t here = next.front();
    next.pop_front();
    for (const End& end : ends_[static_cast<std::size_t>(here)]) {
      std::int32_t& there = distance[static_cast<std::size_t>(end.link.to_chip)];
      if (there >= 0 || (with_room && !has_room(end))) continue;
      there = distance[static_cast<std::size_t>(here)] + 1;
      next.push_back(end.link.to_chip);
    }
  }
  return distance;
}

const ChipRoutes::Distances& ChipRoutes::known_distances(std::map<std::int32_t, Distances>& known, std::int32_t chip, bool with_room) {
  auto it = known.find(chip);
  return it != known.end() ? it->second : known.emplace(chip, distances_to(chip, with_room)).first->second;
}

bool ChipRoutes::joined(std::int32_t from, std::int32_t to) {
  return is_chip(from) && is_chip(to) && known_distances(all_, to, false)[static_cast<std::size_t>(from)] >= 0;
}

// Between chips that can be reached from this one and others.
std::vector<device::EthLink> ChipRoutes::full_around(std::int32_t chip) const {
  std::vector<device::EthLink> out;
  const Distances reached = distances_to(chip, true);
  for (std::size_t here = 0; here < ends_.size(); ++here)
    for (const End& end : ends_[here])
      if (reached[here] >= 0 && reached[static_cast<std::size_t>(end.link.to_chip)] < 0) out.push_back(end.link);
  return out;
}

std::vector<device::EthLink> ChipRoutes::full_between(std::int32_t from, std::int32_t to) const {
  if (!is_chip(from) || !is_chip(to)) return {};
  std::vector<device::EthLink> out = full_around(from), in = full_around(to);
  if (out.size() <= in.size()) return out;
  for (device::EthLink& l : in) l = {l.to_chip, l.to_channel, l.chip, l.channel};
  return in;
}

std::optional<device::EthLink> ChipRoutes::cable(std::int32_t chip, std::int32_t channel) const {
  const End* end = end_at(chip, channel);
  return end == nullptr ? std::nullopt : std::optional(end->link);
}

std::optional<ChipRoutes::Room> ChipRoutes::room(std::int32_t chip, std::int32_t channel) const {
  const End* end = end_at(chip, channel);
  if (end == nullptr) return std::nullopt;
  return Room{most_, most_ - used_[end->number]};
}

void ChipRoutes::use(const End& end, ChipWay& way) {
  way.push_back(end.link);
  if (++used_[end.number] == most_) free_.clear();
}

void ChipRoutes::give_back(const ChipWay& way) {
  for (const device::EthLink& link : way) --used_[end_at(link.chip, link.channel)->number];
  free_.clear();
}

const ChipRoutes::End* ChipRoutes::end_at(std::int32_t chip, std::int32_t channel) const {
  if (!is_chip(chip)) return nullptr;
  for (const End& end : ends_[static_cast<std::size_t>(chip)])
    if (end.link.channel == channel) return &end;
  return nullptr;
}

std::optional<ChipWay> ChipRoutes::take(std::int32_t from, std::int32_t to) {
  if (!is_chip(from) || !is_chip(to)) return std::nullopt;
  ChipWay way;
  for (std::int32_t here = from; here != to; here = way.back().to_chip) {
    // A cable that becomes full on the way is behind us, so distances ahead stay what they are.
    const Distances& distance = known_distances(free_, to, true);
    const std::int32_t left = distance[static_cast<std::size_t>(here)];
    if (left < 0) return std::nullopt;
    const End* best = nullptr;
    for (const End& end : ends_[static_cast<std::size_t>(here)]) {
      if (distance[static_cast<std::size_t>(end.link.to_chip)] != left - 1 || !has_room(end)) continue;
      if (best == nullptr || used_[end.number] < used_[best->number]) best = &end;
    }
    use(*best, way);
  }
  return way;
}

std::optional<ChipWay> ChipRoutes::take_shortest(std::int32_t from, std::int32_t to) {
  if (!joined(from, to)) return std::nullopt;
  const auto here = static_cast<std::size_t>(from);
  if (known_distances(free_, to, true)[here] != known_distances(all_, to, false)[here]) return std::nullopt;
  return take(from, to);
}

std::optional<ChipWay> ChipRoutes::take_between(std::int32_t from, std::int32_t channel, std::int32_t to, std::int32_t to_channel) {
  const End *out = end_at(from, channel), *in = end_at(to, to_channel);
  if (out == nullptr || in == nullptr || !has_room(*out) || !has_room(*in)) return std::nullopt;
  ChipWay way, last;
  use(*out, way);
  if (out->number == in->number) {
    if (out->link.to_chip == to) return way;
    give_back(way);
    return std::nullopt;
  }
  const device::EthLink& l = in->link;
  use({{l.to_chip, l.to_channel, l.chip, l.channel}, in->number}, last);
  auto between = take(out->link.to_chip, l.to_chip);
  if (!between) {
    give_back(way);
    give_back(last);
    return std::nullopt;
  }
  way.insert(way.end(), between->begin(), between->end());
  way.push_back(last.front());
  return way;
}

}  // namespace buda::pipes
