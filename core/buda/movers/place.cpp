// SPDX-License-Identifier: Apache-2.0
// Places.
#include <buda/movers/place.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::movers {

std::optional<NoPlace> place_rings(const std::vector<CoreTables*>& cores, FreeSpace space) {
  std::map<std::int32_t, std::uint64_t> bytes;  // by stream
  for (const CoreTables* core : cores)
    for (const Ring& ring : core->rings) bytes[ring.stream] = std::max(bytes[ring.stream], ring.bytes());
  std::vector<std::pair<std::uint64_t, std::int32_t>> order;
  NoPlace missing{0, space.bytes()};
  for (const auto& [stream, needed] : bytes) {
    order.emplace_back(needed, stream);
    missing.wanted += needed;
  }
  std::sort(order.rbegin(), order.rend());
  std::map<std::int32_t, std::uint64_t> places;
  for (const auto& [needed, stream] : order) {
    const auto at = space.place(needed);
    if (!at) return missing;
    places[stream] = *at;
  }
  for (CoreTables* core : cores)
    for (Ring& ring : core->rings) ring.address = places.at(ring.stream);
  return std::nullopt;
}

}  // namespace buda::movers
