// SPDX-License-Identifier: Apache-2.0
// Graphs of the same names may have been placed in another way.
#include <buda/overlay/blob/blob_of_netlist.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace buda::overlay {
namespace {

std::string place_of(const Core& core) { return cat("core [", core.core.row, ", ", core.core.col, "] of chip ", core.chip); }

std::string difference_of_core(const Core& core, const pipes::NetlistIndex& index) {
  const auto [op, graph] = index.op(core.op);
  if (op == nullptr) return cat("it has cores of op '", core.op, "', which the netlist does not have");
  if (graph->target_device != core.chip || !has_core(*op, core.core))
    return cat("it has op '", core.op, "' on ", place_of(core), ", where the netlist does not have it");
  return "";
}

std::string difference_of_buffer(const DramBuffer& buffer, const pipes::NetlistIndex& index) {
  const std::size_t number = index.queue(buffer.queue);
  if (buffer.padding || buffer.host || number == pipes::NetlistIndex::kNone) return "";
  const netlist::Queue& queue = index.netlist().queues[number];
  // Queues of another chip are reached at addresses of their own.
  if (queue.location != netlist::QueueLocation::dram || buffer.chip != queue.target_device) return "";
  const bool found = std::any_of(queue.buffers.begin(), queue.buffers.end(), [&](const netlist::BufferAddress& a) {
    return a.channel == buffer.channel && a.address == buffer.address;
  });
  return found ? ""
               : cat("it has a buffer of queue '", buffer.queue, "' at ", hex_text(buffer.address), " in DRAM channel ", buffer.channel,
                     ", where the netlist has none");
}

}  // namespace

bool has_kernel(const Core& core) {
  return std::any_of(core.streams.begin(), core.streams.end(), [](const Stream& s) {
    return s.kind == StreamKind::input || s.kind == StreamKind::output || s.kind == StreamKind::intermediate;
  });
}

bool has_core(const netlist::Op& op, GridCoord worker) {
  const std::int32_t r = worker.row - op.grid_loc.row, c = worker.col - op.grid_loc.col;
  const auto [rows, cols] = op.grid_transpose ? std::pair(op.grid.cols, op.grid.rows) : std::pair(op.grid.rows, op.grid.cols);
  return r >= 0 && c >= 0 && r < rows && c < cols;
}

std::string difference_from(const Blob& blob, const pipes::NetlistIndex& index, std::span<const std::size_t> graphs) {
  std::map<std::string_view, std::int64_t> cores;
  for (const Core& core : blob.cores) {
    if (core.ethernet || !has_kernel(core)) continue;
    if (std::string text = difference_of_core(core, index); !text.empty()) return text;
    ++cores[core.op];
  }
  for (const std::size_t g : graphs)
    for (const netlist::Op& op : index.netlist().graphs[g].ops) {
      const std::int64_t wanted = std::int64_t{op.grid.rows} * op.grid.cols;
      // Some ops have Ethernet cores only.
      if (const auto there = cores.find(op.name); there != cores.end() && there->second != wanted)
        return cat("it has op '", op.name, "' on ", there->second, there->second == 1 ? " core" : " cores", ", and the netlist on ",
                   wanted);
    }
  for (const DramBuffer& buffer : blob.dram)
    if (std::string text = difference_of_buffer(buffer, index); !text.empty()) return text;
  return "";
}

}  // namespace buda::overlay
