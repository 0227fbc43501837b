// SPDX-License-Identifier: Apache-2.0
// A netlist for each measurement.
#include "through_sim.hpp"

#include "table.hpp"

#include <buda/base/text.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/runtime/streams.hpp>
#include <buda/sim/epoch/program_epochs.hpp>
#include <buda/tiling/tile_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <variant>

namespace buda::silicon {
namespace {

using netlist::Netlist;
using netlist::Op;
using netlist::Queue;

constexpr std::int32_t kInputs = 4;

// A kernel that takes the time that was predicted.
class PredictedCore final : public sim::CoreModel {
 public:
  explicit PredictedCore(double cycles) : cycles_(cycles) {}
  Result<sim::KernelPlan> plan(const sim::KernelContext& kernel) const override {
    sim::KernelPlan plan = sim::plan_steps(kernel.op, kernel.operands);
    plan.input_time = sim::ticks_of(cycles_);
    return plan;
  }

 private:
  double cycles_;
};

// What the measurements do not tell: inputs that are parameters, formats between the stages, where the op is.
Op placed(const Measurement& m) {
  Op op = m.op;
  op.name = "op";
  op.grid = {1, 1};
  const std::size_t least = netlist::expected_inputs(op).min;
  while (op.inputs.size() < least) op.inputs.push_back(op.inputs.back());
  if (op.attributes.identity) {
    op.inputs.back().format = DataFormat::raw_uint32;
    auto& sparse = op.attributes.sparse;
    sparse.num_sparse_tiles = static_cast<std::int32_t>(std::clamp<std::int64_t>(m.counts->tiles, 1, 16));
    sparse.num_index_tiles = 1;
    sparse.num_columns = 1;
    sparse.sparse_tile_ptr_bits = sparse.sparse_ublock_idx_bits = 8;
    sparse.fracture_factor = 1;
  }
  for (std::size_t i = 0; i < op.inputs.size(); ++i) op.inputs[i].name = cat("in", i);
  if (op.type == netlist::OpType::splice)
    for (auto& in : op.inputs) in.splice = netlist::SpliceRange{0, 1, 1};
  const bool dequantizes = op.type == netlist::OpType::dequantization;
  op.intermed_format = op.acc_format = is_integer(op.out_format) || dequantizes              ? DataFormat::int32
                                       : exponent_family(op.out_format) == ExponentFamily::a ? DataFormat::float16
                                                                                             : DataFormat::float16_b;
  if (op.attributes.reduce_dim == netlist::Dim::z) op.intermed_format = op.out_format = op.inputs[0].format;
  return op;
}

// As the op takes it, so that its tiles lie one after the other.
Result<Queue> input_queue(const Op& op, std::size_t input, std::int32_t channel) {
  netlist::TileShape arriving = netlist::needed_shape(op, input).value_or(netlist::TileShape{op.block.t, 1, 1});
  arriving.t = std::max<std::int64_t>(arriving.t, 1);
  auto found = tiling::tile_order_of(op, nullptr, input, arriving);
  if (auto* error = std::get_if<tiling::OrderError>(&found)) return input_error("SI010", {}, error->reason);
  const auto& order = std::get<tiling::TileOrder>(found);
  if (order.tiles() < 1) return input_error("SI010", {}, cat("input ", input, " has no tiles"));
  Queue q;
  q.name = op.inputs[input].name;
  q.block = {static_cast<std::int32_t>(order.t), static_cast<std::int32_t>(order.blocks_r), static_cast<std::int32_t>(order.blocks_c),
             static_cast<std::int32_t>(order.block_rt), static_cast<std::int32_t>(order.block_ct)};
  q.ublock_order = order.order;
  q.entries = kInputs;
  q.format = op.inputs[input].format;
  q.buffers = {{channel, 0x10000000}};
  return q;
}

bool is_parameter(const Op& op, std::size_t input) { return op.attributes.identity && input != 1; }

}  // namespace

Result<Netlist> netlist_of(const Measurement& m, const device::DeviceDescriptor& device) {
  const Op op = placed(m);
  Netlist n;
  n.archs = {m.arch};
  n.arch = m.arch;
  netlist::instruction::Execute execute{"g", {}};
  const auto channels = static_cast<std::int32_t>(device.dram.channels.size());
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    BUDA_ASSIGN(Queue q, input_queue(op, i, static_cast<std::int32_t>(i) % channels));
    netlist::QueueSetting setting;
    setting.queue = q.name;
    setting.prologue = netlist::Value::number(is_parameter(op, i) ? 1 : 0);
    setting.epilogue = setting.zero = netlist::Value::number(0);
    setting.rd_ptr_local = setting.rd_ptr_global = netlist::Value::number(0);
    execute.settings.push_back(std::move(setting));
    n.queues.push_back(std::move(q));
  }
  Queue out;
  out.name = "out";
  out.input = op.name;
  out.block = op.block;
  out.ublock_order = op.ublock_order;
  out.entries = kInputs;
  out.format = op.out_format;
  out.buffers.push_back(netlist::BufferAddress{static_cast<std::int32_t>(op.inputs.size()) % channels, 0x20000000});
  n.queues.push_back(std::move(out));
  netlist::Graph graph;
  graph.name = "g";
  graph.input_count = kInputs;
  graph.ops = {op};
  n.graphs.push_back(std::move(graph));
  netlist::Program program;
  program.name = "p";
  program.instructions.push_back({execute, {}});
  n.programs.push_back(std::move(program));
  return n;
}

namespace {

// Cycles from input to input.
Result<double> period(Host& host, const device::DeviceDescriptor& device, const Prediction& p) {
  runtime::Program program;
  BUDA_ASSIGN(program.netlist, netlist_of(*p.measured, device));
  for (auto& d : netlist::check_netlist(program.netlist, device))
    if (d.severity == Severity::error) return std::move(d);
  BUDA_TRY(runtime::complete_program(program, {.streams = true}, {}, device, host));
  BUDA_ASSIGN(auto epochs, sim::ProgramEpochs::make(program.netlist, device, host));
  const PredictedCore core(p.cycles);
  BUDA_ASSIGN(auto run, epochs.begin(0, program.epochs.front().blob, core, {}, {}));
  BUDA_ASSIGN(auto state, run.advance(sim::kForever));
  if (state != sim::RunState::ended) return run.why();
  return run.summary().period.cycles();
}

}  // namespace

Simulated through_simulator(Host& host, device::DeviceDescriptor device, const std::vector<Prediction>& predictions) {
  // Among the measurements are some to whose core more comes than a channel of DRAM gives: they lay elsewhere, or in several.
  constexpr double kMuch = 16;
  device.cost.dram_channel_gbs *= kMuch;
  Simulated out;
  for (const Prediction& p : predictions) {
    auto cycles = period(host, device, p);
    if (!cycles) {
      const Diagnostic& d = cycles.failure().diagnostics().front();
      out.left_out.push_back(cat(p.measured->file, ':', p.measured->line, ": ", d.code, ": ", d.message));
      continue;
    }
    out.predictions.push_back({p.measured, *cycles});
    out.added.push_back(*cycles / p.cycles - 1);
  }
  return out;
}

std::string feed_table(const Simulated& simulated) {
  struct Added {
    std::size_t all = 0, slower = 0;
    double sum = 0, most = 0;
  };
  std::map<std::pair<std::string, std::string>, Added> classes;
  for (std::size_t i = 0; i < simulated.predictions.size(); ++i) {
    const Measurement& m = *simulated.predictions[i].measured;
    Added& a = classes[{m.arch, std::string(class_name(m.op))}];
    ++a.all;
    a.slower += simulated.added[i] > 0.001 ? 1 : 0;
    a.sum += simulated.added[i];
    a.most = std::max(a.most, simulated.added[i]);
  }
  std::string out = "| chip | class | measurements | slower than the kernel | mean % | most % |\n|---|---|--:|--:|--:|--:|\n";
  for (const auto& [key, a] : classes) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f | %.1f", 100 * a.sum / static_cast<double>(a.all), 100 * a.most);
    out += cat("| ", key.first, " | ", key.second, " | ", a.all, " | ", a.slower, " | ", text, " |\n");
  }
  return out;
}

}  // namespace buda::silicon
