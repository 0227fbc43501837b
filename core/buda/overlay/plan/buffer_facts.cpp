// SPDX-License-Identifier: Apache-2.0
// Sizes of buffers as pipegen files give them.
#include <buda/overlay/plan/buffer_facts.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/violations.hpp>

#include <algorithm>
#include <string>

namespace buda::overlay {

// Relays give their whole size, other scattered buffers that of a block's share. The output of an Ethernet core is what arrived in its
// input, where it arrived: files differ in the size that they give it. It is sent in windows, so both have room for whole ones.
std::int64_t buffer_tiles(const Buffer& b, const pipes::BufferIndex& buffers) {
  const Buffer* input = b.type == BufferType::packer && is_on_ethernet(b) ? buffers.find(b.buffer_space_shared.value_or(0)) : nullptr;
  if (input == nullptr) return b.size_tiles * (b.is_scatter && !is_relay(b) ? b.replicate : 1);
  const std::int64_t window = std::max<std::int64_t>(b.is_scatter ? b.window_tiles() : 1, 1);
  return std::max(input->size_tiles / window, std::int64_t{1}) * window;
}

std::int64_t output_window(const Buffer& b) { return std::max<std::int64_t>(1, std::min(b.window_tiles(), epoch_tiles(b))); }

std::int64_t windows_in_buffer(const Buffer& b, const pipes::BufferIndex& buffers) {
  if (b.type != BufferType::packer) return 1;
  return std::max<std::int64_t>(1, buffer_tiles(b, buffers) / output_window(b));
}

void check_buffers(const pipes::PipeGraph& graph, Violations& violations) {
  constexpr std::int32_t kMaxTileBytes = 1 << 24;
  for (const Buffer& b : graph.buffers) {
    for (std::int64_t v :
         {b.epoch_tiles, b.size_tiles, b.scatter_gather_num_tiles, b.replicate, b.tiles_per_input, b.tile_clear_granularity}) {
      if (is_plausible_count(v)) continue;
      return violations.error("OV002", nullptr, &b, cat("buffer_", b.id, " has a count of ", v, " tiles"));
    }
    const std::int64_t blocks = std::max<std::int64_t>(b.replicate, 1);
    for (std::int64_t v : {b.size_tiles, b.epoch_tiles, b.scatter_gather_num_tiles}) {
      const auto all = checked_mul(v, blocks);
      if (all && is_plausible_count(*all)) continue;
      violations.error("OV002", nullptr, &b, cat("buffer_", b.id, " has too many tiles"));
      break;
    }
    if (b.tile_size < 0 || b.tile_size > kMaxTileBytes)
      violations.error("OV002", nullptr, &b, cat("buffer_", b.id, " has tiles of ", b.tile_size, " bytes"));
    std::string feature;
    if (b.type == BufferType::dram_epilog) feature = "a queue that is written after the epoch, other than a gradient's";
    if (b.dram_buf_streaming) feature = "dram_buf_streaming";
    if (b.use_shadow_rd_ptr) feature = "a shadow read pointer";
    if (!feature.empty()) violations.unsupported(nullptr, &b, feature);
  }
}

}  // namespace buda::overlay
