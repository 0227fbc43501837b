// SPDX-License-Identifier: Apache-2.0
// The balancer: from device ops to a netlist.
#pragma once

#include <buda/balance/balance.hpp>
#include <buda/balance/emit/segments.hpp>
#include <buda/compiler/balancer_options.hpp>
#include <buda/compiler/plugin_set.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <string>

namespace buda::compiler {

struct Placed {
  balance::Segments segments;  // the host's parts; whether the device has any (their graph is in `balanced`)
  balance::Balanced balanced;
  std::string netlist;  // its text
};

// The device with the chips of the cluster that the options name.
Result<device::DeviceDescriptor> device_in_cluster(device::DeviceDescriptor device, const BalancerOptions& options, Host& host);

// What is wrong with the options, whatever the graph: the policy and its options, chips, places of queues.
Result<void> check_balancer_options(const device::DeviceDescriptor& device, const BalancerOptions& options, const PluginSet& plugins,
                                    Host& host);

// Places a graph of device level, of which `plugins` brings the policy, and checks the netlist as a reader of it would. The device must
// outlive the result. An op that does not fit is reported with what it needs, what there is, and the nearest change that makes it fit.
Result<Placed> place(graph::Graph graph, const device::DeviceDescriptor& device, const BalancerOptions& options, const PluginSet& plugins,
                     Host& host);

// Places the ops of a netlist anew, with the same formats and as many inputs per epoch, and checks the result like place(). The netlist
// must be valid for the device. The result has neither segments nor a graph; its report tells of the given plan beside the new one.
Result<Placed> place_netlist(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, const BalancerOptions& options,
                             const PluginSet& plugins, Host& host);

}  // namespace buda::compiler
