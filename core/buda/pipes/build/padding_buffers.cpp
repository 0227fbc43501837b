// SPDX-License-Identifier: Apache-2.0
// Makes buffers of constants.
#include <buda/pipes/build/padding_buffers.hpp>

#include <buda/pipes/build/source_blocks.hpp>

#include <utility>

namespace buda::pipes {
namespace {

bool is_streamed(const InputPlan& input) { return input.source.is_queue() && !input.prologue; }

// Tiles of a block: those of the source's blocks, or the largest divisor of them that the constant has.
std::int64_t block_tiles(const EpochPlan& plan, const InputPlan& input) {
  std::int64_t block = source_granularity(plan, input);
  for (std::int64_t most = PaddingTable::kTiles; block > PaddingTable::kTiles; --most)
    if (block % most == 0) block = most;
  return block;
}

}  // namespace

Id PaddingBuffers::block(std::size_t op, std::size_t number, const CoreCoord& at, std::int64_t times) {
  const InputPlan& input = plan_.ops[op].inputs[number];
  const std::int64_t block = block_tiles(plan_, input);
  auto [it, fresh] = index_.emplace(Key{op, number, at.chip, at.core.row, at.core.col}, buffers_.size());
  if (fresh) {
    buffers_.push_back(make(op, number, at, times, block));
  } else if (!is_streamed(input)) {
    buffers_[it->second].tiles_per_input += times * block;
  }
  return buffers_[it->second].id;
}

Buffer PaddingBuffers::make(std::size_t op, std::size_t number, const CoreCoord& at, std::int64_t times, std::int64_t block) {
  const OpPlan& p = plan_.ops[op];
  const InputPlan& input = p.inputs[number];
  Buffer b;
  b.op = p.op->name;
  b.id = ids_.next();
  b.chip = at.chip;
  b.is_padding = b.is_scatter = true;
  b.scatter_gather_num_tiles = block;
  b.tile_size = input.sizes.tile_bytes;
  b.dram_addr = table_.address(p.op->inputs[number].format, input.pad_value);
  if (is_streamed(input)) {
    const netlist::Queue& q = plan_.netlist().queues[input.source.queue];
    b.size_tiles = b.tiles_per_input = q.block.tiles();
    b.replicate = q.block.tiles() / block;
    b.epoch_tiles = p.graph->input_count * block;
    b.q_slots = q.entries;
    b.dram_io_flag = true;
    b.prefetch_type = PrefetchType::none;
  } else {
    const std::int64_t windows =
        input.source.is_queue() ? std::int64_t{p.graph->input_count} : windows_of(*plan_.ops[input.source.op].op, p.graph->input_count);
    b.core = at.core;
    b.size_tiles = block;
    b.tiles_per_input = times * block;
    b.replicate = 1;
    b.epoch_tiles = windows * block;
    b.q_slots = 1;
    b.dram_buf_flag = true;
    b.prefetch_type = input.post_tm ? PrefetchType::post_tm : PrefetchType::pre_tm;
  }
  return b;
}

}  // namespace buda::pipes
