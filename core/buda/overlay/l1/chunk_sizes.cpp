// SPDX-License-Identifier: Apache-2.0
// Chunks of relays and of writes over PCIe.
#include <buda/overlay/l1/chunk_sizes.hpp>

#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>
#include <numeric>

namespace buda::overlay {
namespace {

// Rounds a transport buffer to a multiple of the chunk size, within its room.
void hold_whole_chunks(const Stream& s, std::int64_t chunk_tiles, StreamBuffer& buffer) {
  if (is_transport(s)) buffer.bytes = bytes_of(buffer.tiles(s.message_bytes) / chunk_tiles * chunk_tiles, s.message_bytes);
}

void adjust_pcie(const EpochInput& in, const CoreMap& cores, const StreamAllocation& streams, const PhaseSchedule& phases, StreamRef sender,
                 L1Layout& layout) {
  const StreamRef receiver = streams.streams.at(sender).destinations.front().first;
  std::int64_t tiles = 0, max = INT64_MAX;
  for (StreamRef r : {sender, receiver}) {
    const Stream& s = streams.streams.at(r);
    const std::int64_t room = layout.streams.at(r).tiles(s.message_bytes);
    for_each(phases.at(r).phases, [&](const PhaseRun::Tuple& p) { tiles = std::gcd(tiles, to_phase(p).messages); });
    if (!is_transport(s)) tiles = std::gcd(tiles, room);
    max = std::min(max, r == receiver ? std::max<std::int64_t>(1, room / 2) : room);
  }
  const std::int64_t chunk_tiles = divisor_up_to(tiles, max);
  for (StreamRef r : {sender, receiver}) hold_whole_chunks(streams.streams.at(r), chunk_tiles, layout.streams.at(r));
  const device::NocCoord at = cores[receiver.core].noc;
  const auto core_number = static_cast<std::uint64_t>(at.y * in.device.noc.x + at.x);
  StreamBuffer& buffer = layout.streams.at(sender);
  buffer.write_chunk_tiles = chunk_tiles;
  buffer.pcie_address =
      streams.streams.at(sender).pcie->address + core_number * in.cluster.peers->core_bytes + layout.streams.at(receiver).address;
}

}  // namespace

void adjust_chunks(const EpochInput& in, const CoreMap& cores, const StreamAllocation& streams, const PhaseSchedule& phases,
                   L1Layout& layout) {
  for (std::size_t i = 0; i < streams.streams.cores(); ++i)
    for (const auto& [number, s] : streams.streams.of_core(i)) {
      const StreamRef ref{static_cast<std::int32_t>(i), number};
      if (s.pcie) adjust_pcie(in, cores, streams, phases, ref, layout);
      if (s.kind != StreamKind::relay || !s.write) continue;
      StreamBuffer& buffer = layout.streams.at(ref);
      const std::int64_t half = std::max<std::int64_t>(1, buffer.tiles(s.message_bytes) / 2);
      buffer.write_chunk_tiles = divisor_up_to(buffer.write_chunk_tiles, half);
      hold_whole_chunks(s, buffer.write_chunk_tiles, buffer);
    }
}

}  // namespace buda::overlay
