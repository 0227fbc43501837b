// SPDX-License-Identifier: Apache-2.0
// Places of rows.
#include <buda/movers/rows.hpp>

#include <buda/movers/pieces.hpp>

#include <algorithm>

namespace buda::movers {

KernelRows kernel_rows(const Execution& execution, std::size_t core, const overlay::Stream& stream) {
  const auto found = execution.kernel_rows.find(core);
  if (found != execution.kernel_rows.end()) return found->second;
  return {32 + stream.write->rows->tile_rows * stream.write->rows->row_bytes, stream.write->rows->tiles_across};
}

std::optional<RowWrites> row_writes(const overlay::Stream& stream, const KernelRows& kernel, const overlay::DramBuffer& queue,
                                    const QueueStart& start, std::int64_t node) {
  constexpr std::int64_t kQueueHeaderBytes = 32;
  const overlay::RowWrite& rows = *stream.write->rows;
  RowWrites out;
  out.rows = {kernel.tiles / std::max(rows.tiles_across, 1) * rows.tile_rows, rows.row_bytes, rows.pitch};
  const std::int64_t slots = std::max<std::int64_t>(queue.slots, 1), count = out.rows.count;
  if (count < 1 || rows.rows % count != 0 || stream.messages() % kernel.tiles != 0) return std::nullopt;
  SendPieces pieces(static_cast<std::int32_t>(count * rows.pitch), true);
  const std::int64_t in_plane = rows.rows / count, in_entry = in_plane * rows.planes, all = stream.messages() / kernel.tiles;
  for (std::int64_t n = 0; n < all; ++n) {
    const std::int64_t slot = (start.write_slot + n / in_entry * start.write_step) % slots, plane = n % in_entry / in_plane;
    const std::int64_t at = rows.offset + (slot * rows.planes + plane) * rows.plane_pitch + n % in_plane * count * rows.pitch;
    pieces.add(1, node, n, queue.address + static_cast<std::uint64_t>(kQueueHeaderBytes + at));
  }
  out.sends = pieces.runs(all);
  return out;
}

}  // namespace buda::movers
