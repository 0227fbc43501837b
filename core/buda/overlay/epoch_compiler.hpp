// From a netlist to the pipes and stream programs of its epochs, in one process and without files.
//
//   BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make(netlist, device, "", host));
//   for (const pipes::Epoch& epoch : compiler.epochs()) {
//     BUDA_ASSIGN(auto pipes, compiler.pipes(epoch));
//     BUDA_ASSIGN(auto blob, compiler.streams(pipes));
//   }
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/overlay/blob.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <memory>
#include <string>
#include <vector>

namespace buda::overlay {

// What the epochs of a netlist have in common. Its methods may be called from several threads.
class EpochCompiler {
 public:
  // The netlist keeps the rules of check_netlist and outlives the compiler. `cluster` says how chips are joined: a name or a file, empty
  // for the device's own. Of a device with fewer chips than the cluster, all chips of the cluster are used.
  static Result<EpochCompiler> make(const netlist::Netlist& netlist, device::DeviceDescriptor device, const std::string& cluster,
                                    Host& host);

  const std::vector<pipes::Epoch>& epochs() const { return epochs_; }
  const device::DeviceDescriptor& device() const { return device_; }
  const device::Cluster& cluster() const { return cluster_; }
  const pipes::NetlistIndex& index() const { return *index_; }
  const pipes::PaddingTable& padding() const { return padding_; }

  Result<pipes::PipeGraph> pipes(const pipes::Epoch& epoch) const;
  Result<Blob> streams(const pipes::PipeGraph& pipes) const;

 private:
  EpochCompiler() = default;

  device::DeviceDescriptor device_;
  device::Cluster cluster_;          // as it was loaded
  device::Cluster netlist_cluster_;  // with the cables that the netlist may count on
  std::unique_ptr<pipes::NetlistIndex> index_;
  std::vector<pipes::Epoch> epochs_;
  pipes::PaddingTable padding_;
};

}  // namespace buda::overlay
