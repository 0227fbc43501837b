// SPDX-License-Identifier: Apache-2.0
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
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/check/check.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <memory>
#include <string>
#include <vector>

namespace buda::overlay {

// What the epochs of a netlist have in common. Its methods may be called from several threads.
class EpochCompiler {
 public:
  // The netlist satisfies the rules of check_netlist and outlives the compiler. `cluster` says how chips are connected: a name or a file,
  // empty for the device's own. Of a device with fewer chips than the cluster, all chips of the cluster are used. `device_label` becomes
  // PipeGraph::device.
  static Result<EpochCompiler> make(const netlist::Netlist& netlist, device::DeviceDescriptor device, const std::string& cluster,
                                    Host& host, const std::string& device_label = "");
  // The same for a cluster that is at hand.
  static Result<EpochCompiler> make_for(const netlist::Netlist& netlist, device::DeviceDescriptor device, device::Cluster cluster,
                                        const std::string& device_label = "");
  // The same for any netlist: checks it first. Errors are those of check_netlist; its warnings go to the host. The netlist of a model that
  // the host executes as a whole is empty, and passes.
  static Result<EpochCompiler> check_and_make(const netlist::Netlist& netlist, device::DeviceDescriptor device, const std::string& cluster,
                                              Host& host, const std::string& device_label = "");

  const std::vector<pipes::Epoch>& epochs() const { return epochs_; }
  const device::DeviceDescriptor& device() const { return device_; }
  const device::Cluster& cluster() const { return cluster_; }
  const pipes::NetlistIndex& index() const { return *index_; }
  const pipes::PaddingTable& padding() const { return padding_; }

  Result<pipes::PipeGraph> pipes(const pipes::Epoch& epoch) const;
  // Proves pipes of the epoch right, tile by tile.
  Result<pipes::CheckCounts> check(const pipes::Epoch& epoch, const pipes::PipeGraph& pipes) const;
  Result<Blob> streams(const pipes::PipeGraph& pipes) const;

 private:
  EpochCompiler() = default;
  Result<void> connect_chips(const netlist::Netlist& netlist, const std::string& cluster, Host& host);
  void connect_chips(const netlist::Netlist& netlist, device::Cluster cluster);
  Result<void> index_epochs(const netlist::Netlist& netlist);

  device::DeviceDescriptor device_;
  device::Cluster cluster_;          // as it was loaded
  device::Cluster netlist_cluster_;  // with the Ethernet links that the netlist may count on
  std::string device_label_;
  std::unique_ptr<pipes::NetlistIndex> index_;
  std::vector<pipes::Epoch> epochs_;
  pipes::PaddingTable padding_;
};

}  // namespace buda::overlay
