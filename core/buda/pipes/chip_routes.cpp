// Ways from chip to chip.
#include <buda/pipes/chip_routes.hpp>

#include <deque>

namespace buda::pipes {

ChipRoutes::ChipRoutes(const device::DeviceDescriptor& device, const device::Cluster& cluster)
    : ends_(static_cast<std::size_t>(device.chips)) {
  for (const device::EthLink& link : links_of(cluster, device)) {
    ends_[static_cast<std::size_t>(link.chip)].push_back({link, used_.size()});
    ends_[static_cast<std::size_t>(link.to_chip)].push_back({{link.to_chip, link.to_channel, link.chip, link.channel}, used_.size()});
    used_.push_back(0);
  }
}

// -1 for chips from which there is no way.
const std::vector<std::int32_t>& ChipRoutes::distances_to(std::int32_t chip) {
  auto [it, fresh] = distances_.try_emplace(chip, ends_.size(), -1);
  std::vector<std::int32_t>& distance = it->second;
  if (!fresh) return distance;
  std::deque<std::int32_t> next{chip};
  distance[static_cast<std::size_t>(chip)] = 0;
  while (!next.empty()) {
    std::int32_t here = next.front();
    next.pop_front();
    for (const End& end : ends_[static_cast<std::size_t>(here)]) {
      std::int32_t& there = distance[static_cast<std::size_t>(end.link.to_chip)];
      if (there >= 0) continue;
      there = distance[static_cast<std::size_t>(here)] + 1;
      next.push_back(end.link.to_chip);
    }
  }
  return distance;
}

std::optional<std::vector<device::EthLink>> ChipRoutes::take(std::int32_t from, std::int32_t to) {
  const auto count = static_cast<std::int32_t>(ends_.size());
  if (from < 0 || to < 0 || from >= count || to >= count) return std::nullopt;
  const std::vector<std::int32_t>& distance = distances_to(to);
  if (distance[static_cast<std::size_t>(from)] < 0) return std::nullopt;
  std::vector<device::EthLink> way;
  for (std::int32_t here = from; here != to; here = way.back().to_chip) {
    const End* best = nullptr;
    for (const End& end : ends_[static_cast<std::size_t>(here)]) {
      if (distance[static_cast<std::size_t>(end.link.to_chip)] != distance[static_cast<std::size_t>(here)] - 1) continue;
      if (best == nullptr || used_[end.number] < used_[best->number]) best = &end;
    }
    ++used_[best->number];
    way.push_back(best->link);
  }
  return way;
}

}  // namespace buda::pipes
