// SPDX-License-Identifier: Apache-2.0
// Chunks of tiles, or rows of datums.
#include <buda/overlay/streams/queue_writes.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>
#include <numeric>

namespace buda::overlay {
namespace {

constexpr std::int64_t kMaxBytesWritten = 80 * 1024;  // at once

// The part of the rows that one core of an untilized output has: the pipe lists cores row by row.
std::optional<RowWrite> rows_of(const PipePlan& plan, std::size_t source, Violations& violations) {
  const Buffer& b = *plan.sources[source];
  const auto& u = b.untilized;
  const std::int64_t rows = u.tile_rows > 0 ? u.tile_rows : 32, cols = u.tile_cols > 0 ? u.tile_cols : 32;
  const bool sound = u.r > 0 && u.c > 0 && u.full_r % u.r == 0 && u.full_c % u.c == 0 && b.tile_size % (rows * cols) == 0 &&
                     std::int64_t{u.full_r / u.r} * (u.full_c / u.c) == static_cast<std::int64_t>(plan.sources.size());
  if (!sound) {
    violations.error("OV002", plan.pipe, &b,
                     cat("an output without tiles of ", u.full_r, " x ", u.full_c, " tiles, ", u.r, " x ", u.c,
                         " of them in each core, cannot come from ", plan.sources.size(), plan.sources.size() == 1 ? " core" : " cores",
                         " with tiles of ", b.tile_size, " bytes"));
    return std::nullopt;
  }
  const std::int64_t datum_bytes = b.tile_size / (rows * cols), across = u.full_c / u.c, number = static_cast<std::int64_t>(source);
  RowWrite w;
  w.row_bytes = u.c * cols * datum_bytes;
  w.pitch = u.full_c * cols * datum_bytes;
  w.rows = u.r * rows;
  w.planes = std::max(u.z, 1);
  w.plane_pitch = u.full_r * rows * w.pitch;
  w.offset = number / across * w.rows * w.pitch + number % across * w.row_bytes;
  w.tile_rows = static_cast<std::int32_t>(rows);
  w.tile_cols = static_cast<std::int32_t>(cols);
  w.tiles_across = u.c;
  return w;
}

// A divisor of all blocks and parts, as large as the limit of bytes allows.
std::int64_t chunk_tiles(const PipePlan& plan, const Buffer& from, std::int32_t tile_bytes) {
  std::int64_t tiles = 0;
  for (const Block& b : plan.blocks) tiles = std::gcd(tiles, b.tiles);
  for (const Part& p : plan.parts) tiles = std::gcd(tiles, p.tiles);
  // Rows of datums are complete when a row of ublocks is.
  std::int64_t step = from.untilized.on ? std::int64_t{from.mblock_n} * from.ublock_rt * from.ublock_ct : 1;
  if (step < 1 || tiles % step != 0) step = 1;
  const std::int64_t max_steps = kMaxBytesWritten / std::max<std::int64_t>(tile_bytes * step, 1);
  return step * divisor_up_to(tiles / step, std::max<std::int64_t>(1, max_steps));
}

}  // namespace

std::optional<DramWrite> write_of_plan(const PipePlan& plan, std::size_t source, const Buffer& queue, const Stream& stream, bool over_chain,
                                       DramTable& dram, Violations& violations) {
  const Buffer& from = *plan.sources[source];
  std::string unsupported;
  if (stream.write) unsupported = "a relay buffer that is written to several queue buffers";
  if (!from.untilized.on && plan.sources.size() > 1 && !over_chain) unsupported = "a queue buffer that several cores write";
  if (!unsupported.empty()) {
    violations.unsupported(plan.pipe, &queue, unsupported);
    return std::nullopt;
  }
  DramWrite write;
  write.dram = dram.index_of(queue);
  write.chunk_tiles = chunk_tiles(plan, from, stream.message_bytes);
  if (!from.untilized.on) return write;
  write.rows = rows_of(plan, source, violations);
  if (!write.rows) return std::nullopt;
  return write;
}

}  // namespace buda::overlay
