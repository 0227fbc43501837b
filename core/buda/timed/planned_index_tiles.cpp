// SPDX-License-Identifier: Apache-2.0
// Parameters of a plan, as far as they are index tiles.
#include <buda/timed/planned_index_tiles.hpp>

#include <buda/host_plan/host_plan.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/tensor.hpp>

#include <vector>

namespace buda::timed {

Result<IndexTiles> planned_index_tiles(const netlist::Netlist& netlist, const std::string& netlist_path, Host& host) {
  IndexTiles out(netlist);
  const std::string path = host_plan::plan_file_for(netlist_path);
  if (!out.holds_any() || !host.fs().exists(path)) return out;
  BUDA_ASSIGN(host_plan::HostPlan plan, host_plan::read_host_plan(host.fs(), path));
  std::erase_if(plan.parameters, [&](const host_plan::PlanParameter& p) { return !out.holds(p.queue); });
  if (plan.parameters.empty()) return out;
  BUDA_ASSIGN(const NamedTensors values, runtime::load_parameters(host, plan, runtime::folder_of(path)));
  for (const auto& [queue, tensor] : values) out.keep(queue, 0, tensor);
  return out;
}

}  // namespace buda::timed
