// SPDX-License-Identifier: Apache-2.0
// Read lists.
#include <buda/overlay/streams/queue_reads.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace buda::overlay {
namespace {

constexpr std::int64_t kMaxBytesAtOnce = 65536;                   // before the epoch
constexpr std::int64_t kMaxReadsOfBlock = std::int64_t{1} << 22;  // no L1 holds a list as long

ReadBuffer read_buffer(const ReaderNumbers& numbers, const Pipe& pipe, const Buffer& b, std::int32_t dram) {
  if (auto own = numbers.find({pipe.id, b.id}); own != numbers.end()) return {dram, own->second.reader, own->second.readers};
  for (std::size_t i = 0; i < pipe.inputs.size() && i < pipe.dram_reader_index.size(); ++i) {
    if (pipes::base_id(pipe.inputs[i]) != pipes::base_id(b.id)) continue;
    return {dram, pipe.dram_reader_index[i], i < pipe.dram_total_readers.size() ? pipe.dram_total_readers[i] : 1};
  }
  return {dram, 0, 1};
}

// Sets block_tiles and blocks.
bool list_blocks(const PipePlan& plan, const Buffer& receiver, std::int64_t room, DramRead& read, Violations& violations) {
  std::int64_t block = 0;
  for (const Block& b : plan.blocks) block = std::gcd(block, b.tiles);
  block = divisor_up_to(block, std::max<std::int64_t>(room, 1));
  for (const Block& b : plan.blocks) {
    const bool is_padding = plan.sources[static_cast<std::size_t>(b.source)]->is_padding;
    if (b.tiles / block > kMaxReadsOfBlock) {
      violations.error("OV002", plan.pipe, &receiver,
                       cat("it reads ", b.tiles, " tiles in pieces of ", block, ", which are more than ", kMaxReadsOfBlock));
      return false;
    }
    for (std::int64_t at = 0; at < b.tiles; at += block) append<2>(read.blocks, {b.source, is_padding ? 0 : b.offset + at});
  }
  read.block_tiles = block;
  return true;
}

std::optional<RowLookup> lookup_of(const RowLookups& lookups, const PipePlan& plan, Violations& violations) {
  const Buffer &table = *plan.sources.front(), &receiver = plan.first_output();
  if (!table.rows.embedding_table) return std::nullopt;
  if (auto it = lookups.find({receiver.chip, receiver.core.row, receiver.core.col}); it != lookups.end()) {
    RowLookup lookup = it->second;
    lookup.row_tiles = std::int64_t{table.untilized.c} * table.rows.table_core_c_div;
    if (lookup.stream >= 0 && lookup.numbers_per_tile > 0) return lookup;
  }
  violations.error("OV002", plan.pipe, &receiver, "no pipe transfers the indices of the rows to look up");
  return std::nullopt;
}

// A request is for a multiple of `min` tiles that divides `all`.
struct RequestSteps {
  std::int64_t min = 1, all = 1;
};

// The kernel is told of tiles, so a request is for as many rows as make whole ones; of a table those that one tile of numbers names.
RequestSteps request_steps(const PipePlan& plan, const DramRead& read, std::int64_t room) {
  RequestSteps steps{read.block_tiles, plan.pass_tiles};
  const Buffer& source = *plan.sources.front();
  if (!source.rows.hw_tilize && !source.rows.embedding_table) return steps;
  if (read.lookup) {
    steps.all = plan.pass_tiles / std::max(source.untilized.c, 1);
    if (steps.all > read.lookup->numbers_per_tile) steps.all = std::gcd(steps.all, std::int64_t{read.lookup->numbers_per_tile});
  }
  const std::int64_t tile_rows = std::max(source.untilized.tile_rows, 1);
  const auto rows = checked_mul(read.block_tiles / std::gcd(read.block_tiles, tile_rows), tile_rows);
  if (rows && *rows <= room && steps.all % *rows == 0) steps.min = *rows;
  return steps;
}

}  // namespace

ReaderNumbers number_readers(const EpochInput& in, const PipePlans& plans, const SharedReads& sharing) {
  ReaderNumbers out;
  const auto& pipes = in.graph.pipes;
  if (std::none_of(pipes.begin(), pipes.end(), [](const Pipe& p) { return p.dram_num_forks > 1; })) return out;
  std::unordered_set<Id> served;  // others read for them
  for (std::size_t i = 0; i < plans.pipes.size(); ++i)
    if (sharing.reader[i]) served.insert(plans.pipes[i].pipe->id);
  std::map<Id, std::int32_t> counts;  // by buffer
  for (const Pipe& pipe : pipes) {
    if (!pipe.reads_dram() || served.contains(pipe.id)) continue;
    for (Id block : pipe.inputs) {
      const Buffer* b = in.buffers.find(block);
      if (b != nullptr && b->is_queue() && out.emplace(std::pair{pipe.id, b->id}, ReaderNumber{counts[b->id], 0}).second) ++counts[b->id];
    }
  }
  for (auto& [key, number] : out) number.readers = counts[key.second];
  return out;
}

RowLookups index_row_lookups(const PipePlans& plans, const std::map<Id, StreamRef>& kernel_streams) {
  RowLookups out;
  for (const PipePlan& plan : plans.pipes)
    for (const auto& group : plan.groups)
      for (const Buffer* b : group) {
        if (!b->embedding_op_index_input) continue;
        RowLookup& lookup = out[{b->chip, b->core.row, b->core.col}];
        for (const Buffer* list : plan.sources)
          if (list->rows.embedding_index) lookup.numbers_per_tile = list->rows.indices_per_tile;
        if (auto it = kernel_streams.find(b->id); it != kernel_streams.end()) lookup.stream = it->second.stream;
      }
  return out;
}

std::optional<DramRead> read_of_plan(const QueueReaders& readers, const PipePlan& plan, const Buffer& receiver, std::int64_t room,
                                     DramTable& dram, Violations& violations) {
  if (plan.before_epoch && plan.pass_tiles > room) {
    violations.error("OV002", plan.pipe, &receiver,
                     cat("it brings ", plan.pass_tiles, " tiles before the epoch, and the buffer has room for ", room));
    return std::nullopt;
  }
  DramRead read;
  read.before_epoch = plan.before_epoch;
  for (const Buffer* b : plan.sources) read.buffers.push_back(read_buffer(readers.numbers, *plan.pipe, *b, dram.index_of(*b)));
  if (!list_blocks(plan, receiver, room, read, violations)) return std::nullopt;
  read.lookup = lookup_of(readers.lookups, plan, violations);
  const RequestSteps steps = request_steps(plan, read, room);
  const std::int64_t max = plan.before_epoch ? plan.pass_tiles : room / 2;
  read.chunk_tiles = steps.min * divisor_up_to(steps.all / steps.min, std::max<std::int64_t>(max / steps.min, 1));
  return read;
}

DramRead read_of_buffer(const Buffer& b, DramTable& dram) {
  DramRead read;
  read.before_epoch = true;
  read.buffers.push_back({dram.index_of(b), 0, 1});
  const std::int64_t tiles = b.window_tiles(), max_tiles = std::max<std::int64_t>(kMaxBytesAtOnce / std::max(b.tile_size, 1), 1);
  read.block_tiles = b.is_padding ? tiles : divisor_up_to(tiles, max_tiles);
  read.chunk_tiles = read.block_tiles;
  const std::int64_t blocks = tiles / read.block_tiles;
  read.blocks.push_back({{0, 0}, {0, blocks > 1 ? read.block_tiles : 0}, std::max<std::int64_t>(blocks, 1)});
  return read;
}

}  // namespace buda::overlay
