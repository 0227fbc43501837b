// SPDX-License-Identifier: Apache-2.0
// Of inputs: doubling, then bisection. Of outputs: one size after the other that the rules of netlists allow.
#include <buda/sim/epoch/hint.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/epoch_compiler.hpp>

#include <algorithm>
#include <utility>

namespace buda::sim {
namespace {

constexpr std::int32_t kMaxFactor = 64;
constexpr int kMaxOutputTrials = 12;

bool ends(const EpochSetup& setup, const EntriesByQueue& entries) {
  auto run = EpochRun::make(setup, entries);
  if (!run) return false;
  const auto state = run->advance(kForever);
  return state && *state == RunState::ended;
}

bool ends_with(EpochSetup setup, const EntriesByQueue& entries, const EpochRun::FullInput& input, std::int64_t tiles) {
  setup.input_tiles[{input.op, input.operand}] = tiles;
  return ends(setup, entries);
}

std::string in_netlist(const EpochSetup& setup, const EpochRun::FullInput& input, std::int64_t tiles) {
  const netlist::Op* op = setup.index.op(input.op).op;
  std::string out = cat("op '", input.op, "': input_buf_min_size_tiles: [");
  for (std::size_t i = 0; i < op->inputs.size(); ++i)
    out += cat(i == 0 ? "" : ", ", static_cast<std::int32_t>(i) == input.operand ? tiles : std::int64_t{op->inputs[i].min_buffer_tiles});
  return out + "]";
}

// Mblocks of an output beyond those that it has: twice what divides t, and then t doubled again and again (rule NL304).
std::vector<std::int32_t> larger_outputs(const netlist::Op& op) {
  std::vector<std::int32_t> halves;
  const std::int32_t t = std::max(op.block.t, 1);
  for (std::int32_t half = 1; half < t; ++half)
    if (t % half == 0) halves.push_back(half);
  for (std::int32_t times = 1; times <= kMaxFactor; times *= 2) halves.push_back(times * t);
  std::vector<std::int32_t> out;
  for (const std::int32_t half : halves)
    if (2 * half > op.buf_size_mb) out.push_back(2 * half);
  return out;
}

netlist::Op* op_named(netlist::Netlist& netlist, const std::string& name) {
  for (netlist::Graph& graph : netlist.graphs)
    for (netlist::Op& op : graph.ops)
      if (op.name == name) return &op;
  return nullptr;
}

enum class Trial { ends, stops, does_not_fit };

Trial try_netlist(const netlist::Netlist& netlist, const StoppedEpoch& of, Host& host, const EntriesByQueue& entries) {
  auto compiler = overlay::EpochCompiler::make(netlist, of.device, "", host);
  if (!compiler || of.epoch >= compiler->epochs().size()) return Trial::does_not_fit;
  const pipes::Epoch& epoch = compiler->epochs()[of.epoch];
  auto pipes = compiler->pipes(epoch);
  if (!pipes) return Trial::does_not_fit;
  auto blob = compiler->streams(*pipes);
  if (!blob) return Trial::does_not_fit;
  const auto shared = std::make_shared<const overlay::Blob>(std::move(*blob));
  EpochSetup setup{compiler->index(), compiler->device(), epoch, compiler->padding(), shared, of.cores};
  setup.check_tiles = false;
  return ends(setup, entries) ? Trial::ends : Trial::stops;
}

}  // namespace

std::string output_hint_for(const StoppedEpoch& of, Host& host, const EntriesByQueue& entries, const EpochRun& stopped) {
  int trials = 0;
  for (const std::string& name : stopped.outputs_in_cycle()) {
    netlist::Netlist changed = of.netlist;
    netlist::Op* op = op_named(changed, name);
    if (op == nullptr) continue;
    for (const std::int32_t mblocks : larger_outputs(*op)) {
      if (trials++ == kMaxOutputTrials) return "";
      op->buf_size_mb = mblocks;
      const Trial trial = try_netlist(changed, of, host, entries);
      if (trial == Trial::ends) return cat("op '", name, "': buf_size_mb: ", mblocks);
      if (trial == Trial::does_not_fit) break;
    }
  }
  return "";
}

bool runs_with(const StoppedEpoch& of, Host& host, const EntriesByQueue& entries, const EpochRun::FullInput& input, std::int64_t tiles) {
  netlist::Netlist changed = of.netlist;
  netlist::Op* op = op_named(changed, input.op);
  if (op == nullptr || static_cast<std::size_t>(input.operand) >= op->inputs.size()) return false;
  op->inputs[static_cast<std::size_t>(input.operand)].min_buffer_tiles = static_cast<std::int32_t>(tiles);
  return try_netlist(changed, of, host, entries) == Trial::ends;
}

std::string hint_for(const EpochSetup& setup, const EntriesByQueue& entries, const EpochRun& stopped, const InputTrial& trial) {
  for (const EpochRun::FullInput& input : stopped.full_inputs()) {
    const std::int64_t most = kMaxFactor * std::max<std::int64_t>(input.tiles, 1);
    std::int64_t too_few = input.tiles, enough = std::max<std::int64_t>(2 * input.tiles, 1);
    while (enough <= most && !ends_with(setup, entries, input, enough)) {
      too_few = enough;
      enough *= 2;
    }
    if (enough > most) continue;
    while (enough - too_few > 1) {
      const std::int64_t between = too_few + (enough - too_few) / 2;
      (ends_with(setup, entries, input, between) ? enough : too_few) = between;
    }
    if (!trial || trial(input, enough)) return in_netlist(setup, input, enough);
  }
  return "";
}

}  // namespace buda::sim
