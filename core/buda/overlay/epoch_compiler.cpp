// Joins the chips, then asks pipes and overlay.
#include <buda/overlay/epoch_compiler.hpp>

#include <buda/overlay/build.hpp>
#include <buda/pipes/interchip/ethernet_links.hpp>

#include <algorithm>
#include <utility>

namespace buda::overlay {

Result<EpochCompiler> EpochCompiler::make(const netlist::Netlist& netlist, device::DeviceDescriptor device, const std::string& cluster,
                                          Host& host) {
  EpochCompiler out;
  out.device_ = std::move(device);
  if (out.device_.chips > 1 || !cluster.empty()) {
    BUDA_ASSIGN(out.cluster_, device::load_cluster(host, out.device_, cluster));
    out.device_.chips = std::max(out.device_.chips, device::chips_of(out.cluster_));
    out.netlist_cluster_ = out.cluster_;
    out.netlist_cluster_.links = pipes::available_links(netlist, out.device_, out.cluster_);
  }
  out.index_ = std::make_unique<pipes::NetlistIndex>(netlist);
  BUDA_ASSIGN(out.epochs_, pipes::epochs_of(netlist, out.device_));
  BUDA_ASSIGN(out.padding_, pipes::PaddingTable::make(netlist, out.epochs_, out.device_.tile_alignment));
  return out;
}

Result<pipes::PipeGraph> EpochCompiler::pipes(const pipes::Epoch& epoch) const {
  return pipes::build_pipes(*index_, device_, epoch, padding_, netlist_cluster_);
}

Result<Blob> EpochCompiler::streams(const pipes::PipeGraph& pipes) const { return build_blob(pipes, device_, cluster_); }

}  // namespace buda::overlay
