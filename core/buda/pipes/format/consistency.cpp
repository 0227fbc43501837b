// SPDX-License-Identifier: Apache-2.0
// Checks what no single value tells.
#include <buda/pipes/format/consistency.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::pipes {
namespace {

constexpr std::int64_t kMaxTiles = std::int64_t{1} << 40;

void check_buffer(const Buffer& b, FilePlace at, FileErrors& errors) {
  auto bad = [&](std::string_view key, std::int64_t value, std::string_view why) {
    errors.add("PG008", at, cat("buffer_", b.id, ": ", key, " is ", value, "; ", why));
  };
  auto at_least = [&](std::string_view key, std::int64_t value, std::int64_t minimum) {
    if (value < minimum) bad(key, value, minimum == 0 ? "it cannot be negative" : "it must be at least 1");
  };
  at_least("epoch_tiles", b.epoch_tiles, 0);
  at_least("tiles_per_input", b.tiles_per_input, 0);
  at_least("size_tiles", b.size_tiles, 0);
  at_least("tile_size", b.tile_size, 0);
  at_least("q_slots", b.q_slots, 0);
  at_least("id", b.operand, 0);
  at_least("tile_clear_granularity", b.tile_clear_granularity, 0);
  at_least("scatter_gather_num_tiles", b.scatter_gather_num_tiles, b.is_scatter ? 1 : 0);
  at_least("replicate", b.replicate, b.is_scatter ? 1 : 0);
  for (std::int64_t v : {b.epoch_tiles, b.size_tiles, b.scatter_gather_num_tiles, b.replicate, b.tiles_per_input, b.q_slots})
    if (v > kMaxTiles) bad("a number of tiles", v, "that is more than any device holds");
  if (b.is_scatter && b.replicate > 0 && b.scatter_gather_num_tiles > kMaxTiles / b.replicate)
    bad("replicate", b.replicate, "that is too much");
}

void check_buffers(const PlacedGraph& placed, const BufferIndex& index, FileErrors& errors) {
  const std::vector<Buffer>& buffers = placed.graph.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) check_buffer(buffers[i], placed.buffers[i], errors);
  if (const Buffer* twice = index.duplicate()) {
    for (std::size_t i = buffers.size(); i-- > 0;) {
      if (buffers[i].id != twice->id) continue;
      errors.add("PG009", placed.buffers[i], cat("there are two buffers ", twice->id));
      break;
    }
  }
}

// `index`: the buffers.
void check_pipe(const Pipe& p, FilePlace at, const BufferIndex& index, FileErrors& errors) {
  auto bad = [&](const std::string& what) { errors.add("PG010", at, cat("pipe_", p.id, ": ", what)); };
  auto exists = [&](Id id, std::string_view list) {
    if (index.find(id) == nullptr) bad(cat(list, " names ", id, ", which is no buffer or block of one"));
  };
  if (p.inputs.empty()) bad("input_list is empty");
  for (Id id : p.inputs) exists(id, "input_list");
  if (p.outputs.empty()) bad("output_list is empty");
  for (const auto& group : p.outputs) {
    if (group.empty()) bad("output_list has an empty list");
    for (Id id : group) exists(id, "output_list");
  }
  for (Id id : p.output_padding)
    if (id != 0) exists(id, "output_padding_list");
  if (p.mcast_core.size() != p.outputs.size())
    bad(cat("mcast_core_rc has ", p.mcast_core.size(), " cores for ", p.outputs.size(), " lists of outputs"));
  if (!p.output_padding.empty() && p.output_padding.size() != p.outputs.size()) bad("output_padding_list and output_list differ in length");
  if (p.periodic_repeat < 0 || p.periodic_repeat > (1 << 30)) bad(cat("pipe_periodic_repeat is ", p.periodic_repeat));
  if (p.dram_total_readers.size() != p.dram_reader_index.size()) bad("dram_pipe_total_readers and dram_pipe_reader_index differ in length");
  for (const auto* list : {&p.dram_total_readers, &p.dram_reader_index})
    if (std::any_of(list->begin(), list->end(), [](std::int32_t n) { return n < 0; }))
      bad(cat(list == &p.dram_reader_index ? "dram_pipe_reader_index" : "dram_pipe_total_readers", " has a number below 0"));
}

void check_pipes(const PlacedGraph& placed, const BufferIndex& index, FileErrors& errors) {
  const std::vector<Pipe>& pipes = placed.graph.pipes;
  std::vector<Id> ids;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    check_pipe(pipes[i], placed.pipes[i], index, errors);
    ids.push_back(pipes[i].id);
  }
  std::sort(ids.begin(), ids.end());
  auto twice = std::adjacent_find(ids.begin(), ids.end());
  for (std::size_t i = pipes.size(); twice != ids.end() && i-- > 0;) {
    if (pipes[i].id != *twice) continue;
    errors.add("PG009", placed.pipes[i], cat("there are two pipes ", *twice));
    break;
  }
}

}  // namespace

void check_consistency(const PlacedGraph& placed, FileErrors& errors) {
  const BufferIndex index(placed.graph.buffers);
  check_buffers(placed, index, errors);
  check_pipes(placed, index, errors);
  if (placed.graph.buffers.empty() && !errors.any()) errors.add("PG002", {}, "there are no buffers in this file");
}

}  // namespace buda::pipes
