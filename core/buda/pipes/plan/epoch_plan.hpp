// SPDX-License-Identifier: Apache-2.0
// What is decided about an epoch before its buffers and pipes are written down: routes of edges, sizes of buffers, granularities.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/multicast.hpp>
#include <buda/pipes/plan/netlist_index.hpp>
#include <buda/tiling/buffer_sizes.hpp>
#include <buda/tiling/edge_routes.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace buda::pipes {

using tiling::EdgeRoutes;
using tiling::InputBuffer;
using tiling::IntermediateBuffer;
using tiling::kPaddingCore;
using tiling::MulticastAxis;
using tiling::OutputBuffer;
using tiling::PipeRoute;
using tiling::RowCut;
using tiling::Run;
using tiling::RunList;
using tiling::TileOrder;

inline constexpr std::size_t kNone = NetlistIndex::kNone;

// The op or the queue that an input comes from: an index into EpochPlan::ops or Netlist::queues; the other is kNone.
struct Source {
  std::size_t op = kNone;
  std::size_t queue = kNone;
  bool is_queue() const { return queue != kNone; }
};

// An input of an op.
struct InputPlan {
  Source source;
  std::int32_t from_chip = 0;
  TileOrder order;
  Multicast multicast;
  EdgeRoutes routes;
  InputBuffer sizes;
  bool prologue = false;
  bool post_tm = false;  // the prologue reads tiles in the order of consumption
  // A prologue in two steps: each column of cores reads its tiles once, cut into `chunks` shares, and gathers them while the epoch runs.
  // `routes` then lead from the queue into shares, destination chunk * columns + column. 0 without.
  std::int64_t chunks = 0;
  std::int64_t chunk_tiles = 0;
  double pad_value = 0;
  std::optional<RowCut> rows;  // of an input in flat layout: `routes` then lead row pieces instead of tiles
};

struct OpPlan {
  const netlist::Op* op = nullptr;
  const netlist::Graph* graph = nullptr;
  std::int32_t chip = 0;  // of its kernels and outputs: for an ethernet_datacopy the chip that it copies to
  std::vector<InputPlan> inputs;
  std::vector<std::size_t> output_queues;  // indices in Netlist::queues
  bool scattered = false;
  std::int64_t granularity = 0;  // tiles of a block of the output
  OutputBuffer output;
  std::vector<IntermediateBuffer> intermediates;
};

// A queue that the epoch reads or writes.
struct QueuePlan {
  std::size_t queue = kNone;  // in Netlist::queues
  QueueUse use;
  std::vector<std::size_t> readers;  // ops, in order, once each
  std::size_t writer = kNone;        // an op of this epoch
  EdgeRoutes from_writer;            // not for untilized and gradient outputs
  bool scattered = false;
  std::int64_t granularity = 0;  // tiles of a block
  std::optional<RowCut> rows;    // as its readers take them, if they take rows
};

// Refers to the netlist and what else it was made from, which must outlive it.
struct EpochPlan {
  const NetlistIndex* index = nullptr;
  const device::DeviceDescriptor* device = nullptr;
  const device::Cluster* cluster = nullptr;
  const Epoch* epoch = nullptr;
  std::vector<OpPlan> ops;
  std::map<std::string_view, std::size_t> op_index;
  std::vector<QueuePlan> queues;                   // in order of first use
  std::map<std::size_t, std::size_t> queue_index;  // from Netlist::queues to `queues`

  const netlist::Netlist& netlist() const { return index->netlist(); }
  static bool is_ethernet(const OpPlan& p) { return class_of(*p.op).on_ethernet; }
  const QueuePlan& queue_plan(std::size_t queue) const { return queues[queue_index.at(queue)]; }
  // The chip of the first op that reads the queue, or of the one that writes it.
  std::int32_t user_chip(const QueuePlan& q) const { return ops[q.readers.empty() ? q.writer : q.readers.front()].chip; }
};

// The worker of an op's core, in logical coordinates.
GridCoord worker_of(const netlist::Op& op, std::int32_t row, std::int32_t col);
inline GridCoord worker_of(const netlist::Op& op, std::size_t core) {
  auto cols = static_cast<std::size_t>(op.grid.cols);
  return worker_of(op, static_cast<std::int32_t>(core / cols), static_cast<std::int32_t>(core % cols));
}

// The fused op that an op refers to, or null.
const netlist::FusedOp* fused_op_of(const netlist::Netlist& netlist, const netlist::Op& op);

// The op with what the sizes of its buffers depend on.
tiling::OpContext context_of(const EpochPlan& plan, const OpPlan& op);

// Bytes of a tile as a queue stores it.
std::int32_t stored_tile_bytes(const NetlistIndex& index, const netlist::Queue& queue, std::int32_t alignment);

}  // namespace buda::pipes
