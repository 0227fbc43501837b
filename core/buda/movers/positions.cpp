// SPDX-License-Identifier: Apache-2.0
// Phases meet by id: a sender's phase belongs to the last one of the receiver that does not begin after it.
#include <buda/movers/positions.hpp>

#include <algorithm>

namespace buda::movers {

using overlay::Stream;
using overlay::StreamRef;

std::vector<PlacedPhase> all_phases(const Stream& stream) {
  std::vector<PlacedPhase> out;
  for (std::int64_t i = 0; i < stream.iterations; ++i)
    overlay::for_each(stream.phases, [&](const overlay::PhaseRun::Tuple& t) { out.push_back({i, overlay::to_phase(t)}); });
  return out;
}

Positions::Positions(const overlay::Blob& blob) : blob_(blob) {
  for (std::size_t c = 0; c < blob.cores.size(); ++c)
    for (const Stream& stream : blob.cores[c].streams) {
      if (stream.sources.empty()) continue;
      std::vector<Received>& list = received_[{static_cast<std::int32_t>(c), stream.number}];
      std::int64_t number = 0;
      for (const auto& [iteration, phase] : all_phases(stream)) {
        list.push_back({iteration, phase.id, number, phase.source});
        number += phase.messages;
      }
    }
}

std::optional<std::vector<std::int64_t>> Positions::of(StreamRef sender) const {
  const Stream& stream = *blob_.find(sender);
  std::vector<std::vector<std::int32_t>> cores;  // by destination
  for (const overlay::Destination& d : stream.destinations) cores.push_back(blob_.cores_of(d));
  std::map<std::pair<StreamRef, std::size_t>, std::int64_t> sent;  // into each phase of each receiver
  std::vector<std::int64_t> out;
  for (const auto& [iteration, phase] : all_phases(stream)) {
    const auto d = static_cast<std::size_t>(phase.destination);
    std::optional<std::int64_t> agreed;
    for (std::int32_t core : cores[d]) {
      const StreamRef receiver{core, stream.destinations[d].first.stream};
      const auto found = received_.find(receiver);
      if (found == received_.end()) return std::nullopt;
      const std::vector<Received>& list = found->second;
      const auto after = std::upper_bound(list.begin(), list.end(), std::pair(iteration, phase.id),
                                          [](const auto& at, const Received& r) { return at < std::pair(r.iteration, r.id); });
      if (after == list.begin()) return std::nullopt;
      const auto index = static_cast<std::size_t>(after - list.begin() - 1);
      if (blob_.find(receiver)->sources[static_cast<std::size_t>(list[index].source)] != sender) return std::nullopt;
      std::int64_t& before = sent[{receiver, index}];
      const std::int64_t number = list[index].number + before;
      before += phase.messages;
      if (agreed.value_or(number) != number) return std::nullopt;
      agreed = number;
    }
    if (!agreed) return std::nullopt;
    out.push_back(*agreed);
  }
  return out;
}

}  // namespace buda::movers
