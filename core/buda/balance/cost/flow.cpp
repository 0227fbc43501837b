// SPDX-License-Identifier: Apache-2.0
// Buffers, rounds and turns.
#include <buda/balance/cost/flow.hpp>

#include <buda/cost/transfer_model.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/tiling/buffer_sizes.hpp>
#include <buda/tiling/tile_layout.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

using netlist::Op;
using netlist::OpClass;

// Of the columns and rows of a network, the part that a message crosses on average: of the network that an operand has, or of the nearer
// one, which brings what a row or column of cores shares.
constexpr double kPartOfWay = 1.0 / 2, kPartOfNearerWay = 1.0 / 3;

// Blocks that are added up before anything is given.
double inner_blocks(const Op& op) {
  const auto& a = op.attributes;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return a.identity ? 1 : std::max(a.m_k, 1) * (a.accumulate ? std::max(a.z, 1) : 1);
    case OpClass::depthwise:
      return std::max(a.m_k, 1);
    case OpClass::reduce:
      return a.reduce_dim == netlist::Dim::z ? std::max(a.z, 1) : 1;
    default:
      return 1;
  }
}

cost::PipelineInput buffered_input(const Op& op, std::size_t input, const device::DeviceDescriptor& device) {
  const tiling::InputBuffer buffer = input_buffer(op, input, device);
  const std::int64_t kept = op.inputs[input].kernel_broadcast.tiles;
  const auto tiles = static_cast<double>(std::max<std::int64_t>(kept > 0 ? kept : input_order(op, input).tiles(), 1));
  cost::PipelineInput out;
  out.block = static_cast<double>(std::max<std::int64_t>(buffer.clear, 1)) / tiles;
  out.room = static_cast<double>(std::max<std::int64_t>(buffer.size, 1)) / tiles;
  return out;
}

}  // namespace

cost::PipelineOp pipeline_op(const Op& op, double kernel, double write) {
  cost::PipelineOp out;
  const double blocks = inner_blocks(op);
  out.kernel = kernel;
  out.rounds = blocks > 1 ? op.block.t : 1;
  out.gathers = (blocks - 1) / blocks;
  out.gathers_in_output = blocks > 1 && tiling::shares_output(op);
  out.room = static_cast<double>(std::max(op.buf_size_mb, 1)) / static_cast<double>(std::max(op.block.t, 1));
  out.write = write;
  return out;
}

cost::PipelineInput pipeline_input(const Op& op, std::size_t input, const EdgeFlow& flow, std::size_t from,
                                   const device::DeviceDescriptor& device) {
  cost::PipelineInput out = buffered_input(op, input, device);
  const bool is_shared = input_order(op, input).cores_per_destination() > 1;
  const double hops = (is_shared ? kPartOfNearerWay : kPartOfWay) * static_cast<double>(device.noc.x + device.noc.y);
  const cost::TransferModel transfers(device);
  const double latency = transfers.send_latency(hops), ways = is_shared ? 2 : 1;
  const int bytes = tile_bytes(op.inputs[input].format, input_tile_dim(op, input), device.tile_alignment);
  out.from = from;
  out.latency = ways * latency;
  // A receiver waits for the last tile of one source, and the next source for word of it.
  out.transfer = flow.turns * ways * 2 * latency + flow.tiles * bytes / transfers.shared_stream_rate();
  out.window = flow.window;
  out.in_order = flow.in_order;
  out.lead = flow.lead;
  return out;
}

cost::PipelineInput queue_input(const Op& op, std::size_t input, double cycles, const device::DeviceDescriptor& device) {
  cost::PipelineInput out = buffered_input(op, input, device);
  out.transfer = cycles;
  return out;
}

}  // namespace buda::balance
