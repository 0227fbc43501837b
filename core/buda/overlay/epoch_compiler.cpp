// SPDX-License-Identifier: Apache-2.0
// Connects the chips, then asks pipes and overlay.
#include <buda/overlay/epoch_compiler.hpp>

#include <buda/netlist/check/require_rules.hpp>
#include <buda/overlay/build.hpp>
#include <buda/pipes/interchip/ethernet_links.hpp>

#include <algorithm>
#include <utility>

namespace buda::overlay {
Result<void> EpochCompiler::connect_chips(const netlist::Netlist& netlist, const std::string& name, Host& host) {
  if (device_.chips <= 1 && name.empty()) return success();
  BUDA_ASSIGN(auto cluster, device::load_cluster(host, device_, name));
  connect_chips(netlist, std::move(cluster));
  return success();
}

void EpochCompiler::connect_chips(const netlist::Netlist& netlist, device::Cluster cluster) {
  cluster_ = std::move(cluster);
  device_.chips = std::max(device_.chips, device::chips_of(cluster_));
  netlist_cluster_ = cluster_;
  netlist_cluster_.links = pipes::available_links(netlist, device_, cluster_);
}

Result<void> EpochCompiler::index_epochs(const netlist::Netlist& netlist) {
  index_ = std::make_unique<pipes::NetlistIndex>(netlist);
  BUDA_ASSIGN(epochs_, pipes::epochs_of(netlist, device_));
  BUDA_ASSIGN(padding_, pipes::PaddingTable::make(netlist, epochs_, device_.tile_alignment));
  return success();
}

Result<EpochCompiler> EpochCompiler::make(const netlist::Netlist& netlist, device::DeviceDescriptor device, const std::string& cluster,
                                          Host& host, const std::string& device_label) {
  EpochCompiler out;
  out.device_ = std::move(device);
  out.device_label_ = device_label;
  BUDA_TRY(out.connect_chips(netlist, cluster, host));
  BUDA_TRY(out.index_epochs(netlist));
  return out;
}

Result<EpochCompiler> EpochCompiler::make_for(const netlist::Netlist& netlist, device::DeviceDescriptor device, device::Cluster cluster,
                                              const std::string& device_label) {
  EpochCompiler out;
  out.device_ = std::move(device);
  out.device_label_ = device_label;
  if (out.device_.chips > 1 || device::chips_of(cluster) > 1) out.connect_chips(netlist, std::move(cluster));
  BUDA_TRY(out.index_epochs(netlist));
  return out;
}

Result<EpochCompiler> EpochCompiler::check_and_make(const netlist::Netlist& netlist, device::DeviceDescriptor device,
                                                    const std::string& cluster, Host& host, const std::string& device_label) {
  EpochCompiler out;
  out.device_ = std::move(device);
  out.device_label_ = device_label;
  BUDA_TRY(out.connect_chips(netlist, cluster, host));
  const bool is_empty = netlist.queues.empty() && netlist.graphs.empty() && netlist.programs.empty();
  if (!is_empty) BUDA_TRY(netlist::require_rules(netlist, out.device_, host));
  BUDA_TRY(out.index_epochs(netlist));
  return out;
}

Result<pipes::PipeGraph> EpochCompiler::pipes(const pipes::Epoch& epoch) const {
  BUDA_ASSIGN(pipes::PipeGraph graph, pipes::build_pipes(*index_, device_, epoch, padding_, netlist_cluster_));
  graph.device = device_label_;
  return graph;
}

Result<pipes::CheckCounts> EpochCompiler::check(const pipes::Epoch& epoch, const pipes::PipeGraph& pipes) const {
  return pipes::check_pipes(*index_, device_, epoch, padding_, pipes, netlist_cluster_);
}

Result<Blob> EpochCompiler::streams(const pipes::PipeGraph& pipes) const { return build_blob(pipes, device_, cluster_); }

}  // namespace buda::overlay
