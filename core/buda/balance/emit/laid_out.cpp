// SPDX-License-Identifier: Apache-2.0
// From usages of cores to usages of ops, and from bytes of streams to loads of graphs.
#include <buda/balance/emit/laid_out.hpp>

#include <buda/balance/cost/measure_loads.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/overlay/l1/l1_map.hpp>
#include <buda/overlay/usage.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace buda::balance {
namespace {

using overlay::CoreUsage;

Usage l1_of_core(const CoreUsage& core) {
  Usage u{Resource::l1, core.l1_bytes, core.l1_available, {}};
  std::uint64_t sum = 0;
  for (const overlay::L1Piece& piece : core.l1) {
    u.parts.push_back({piece.what, piece.bytes});
    sum += piece.bytes;
  }
  std::reverse(u.parts.begin(), u.parts.end());  // L1 is given out from its end, inputs first
  if (sum < core.l1_bytes)
    u.parts.push_back({"stream program beyond the default, pointers of DRAM buffers, room left over", core.l1_bytes - sum});
  return u;
}

Usage count_of_core(Resource resource, const CoreUsage& core) {
  const bool phases = resource == Resource::phases;
  Usage u{resource,
          static_cast<std::uint64_t>(phases ? core.phases : core.streams),
          static_cast<std::uint64_t>(phases ? core.phases_available : core.streams_available),
          {}};
  for (const overlay::StreamUsage& kind : core.by_kind)
    u.parts.push_back(
        {cat(overlay::stream_kind_name(kind.kind), " streams"), static_cast<std::uint64_t>(phases ? kind.phases : kind.streams)});
  return u;
}

void keep_larger(Usage& kept, Usage other) {
  if (other.used > kept.used || kept.parts.empty()) kept = std::move(other);
}

void add_usages(const overlay::EpochUsage& epoch, LaidOutUsages& out) {
  for (const CoreUsage& core : epoch.cores) {
    if (core.op.empty()) continue;
    auto& usages = out[core.op];
    usages.resize(3);
    keep_larger(usages[0], l1_of_core(core));
    keep_larger(usages[1], count_of_core(Resource::streams, core));
    keep_larger(usages[2], count_of_core(Resource::phases, core));
  }
}

// What a finding says in numbers.
std::int64_t needed(const Diagnostic& d) {
  const auto found = std::find_if(d.data.begin(), d.data.end(), [](const auto& fact) { return fact.first == "needed"; });
  return found == d.data.end() ? 0 : std::atoll(found->second.c_str());
}

// False where something else than programs is too large, or no op can have more room.
bool enlarge_programs(netlist::Netlist& netlist, const Failure& failure, const device::DeviceDescriptor& device) {
  std::map<std::string, std::int64_t> phases;  // by op
  for (const Diagnostic& d : failure.diagnostics()) {
    if (d.code != "OV011") return false;
    phases[d.node] = std::max(phases[d.node], needed(d));
  }
  bool larger = false;
  for (netlist::Graph& graph : netlist.graphs)
    for (netlist::Op& op : graph.ops) {
      const auto found = phases.find(op.name);
      if (found == phases.end()) continue;
      const std::int64_t bytes = align_up(found->second * device.streams.bytes_per_phase, overlay::kProgramStep);
      if (bytes <= op.overlay_size || bytes > (1 << 30)) return false;
      op.overlay_size = static_cast<std::int32_t>(bytes);
      larger = true;
    }
  return larger;
}

}  // namespace

Result<LaidOut> lay_out_with_room(netlist::Netlist& netlist, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                                  Host& host) {
  auto made = lay_out(netlist, device, cluster, host);
  while (!made && enlarge_programs(netlist, made.failure(), device)) made = lay_out(netlist, device, cluster, host);
  return made;
}

Result<LaidOut> lay_out(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                        Host& host) {
  LaidOut out;
  if (overlay::missing_description(device)) return out;
  device::DeviceDescriptor chips = device;
  const bool is_alone = netlist::chips_used(netlist) == 1;
  if (is_alone) chips.chips = 1;
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make_for(netlist, std::move(chips), is_alone ? device::Cluster{} : cluster));
  auto epochs = overlay::predict_usage(compiler, host.threads);
  if (!epochs) {
    Failure failure = std::move(epochs).failure();
    for (Diagnostic& d : failure.diagnostics()) {
      d.loc = {};
      d.notes.push_back({{}, "found when streams were laid out for the netlist that was about to be written"});
    }
    return failure;
  }
  out.loads.resize(netlist.graphs.size());
  for (std::size_t i = 0; i < epochs->size(); ++i) {
    add_usages((*epochs)[i], out.usages);
    for (const netlist::Graph* graph : compiler.epochs()[i].graphs)
      out.loads[static_cast<std::size_t>(graph - netlist.graphs.data())] =
          loads_of((*epochs)[i], graph->target_device, graph->input_count, device);
  }
  return out;
}

}  // namespace buda::balance
