// SPDX-License-Identifier: Apache-2.0
// Links of the cluster, or as the netlist names them.
#include <buda/pipes/interchip/ethernet_links.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace buda::pipes {

std::vector<device::EthLink> available_links(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                             const device::Cluster& cluster) {
  if (!cluster.links.empty()) return cluster.links;
  std::map<std::string_view, std::int32_t> chip_of;  // of the output of an op, or of a queue
  for (const auto& q : netlist.queues) chip_of.emplace(q.name, q.target_device);
  for (const auto& g : netlist.graphs)
    for (const auto& op : g.ops)
      chip_of.emplace(op.name, op.type == netlist::OpType::ethernet_datacopy ? op.attributes.dest_device : g.target_device);
  std::vector<device::EthLink> out;
  std::set<std::pair<std::int32_t, std::int32_t>> taken;
  auto add = [&](const device::EthLink& l) {
    auto is_end = [&](std::int32_t chip, std::int32_t channel) {
      return chip >= 0 && chip < device.chips && channel >= 0 && static_cast<std::size_t>(channel) < device.eth.size();
    };
    const std::pair from{l.chip, l.channel}, to{l.to_chip, l.to_channel};
    if (!is_end(l.chip, l.channel) || !is_end(l.to_chip, l.to_channel) || l.chip == l.to_chip) return;
    if (taken.contains(from) || taken.contains(to)) return;
    taken.insert({from, to});
    out.push_back(l);
  };
  for (const auto& g : netlist.graphs)
    for (const auto& op : g.ops) {
      const auto& a = op.attributes;
      auto from = op.inputs.empty() ? chip_of.end() : chip_of.find(op.inputs.front().name);
      if (op.type != netlist::OpType::ethernet_datacopy || from == chip_of.end()) continue;
      for (std::size_t i = 0; i < std::min(a.ingress_channels.size(), a.egress_channels.size()); ++i)
        add({from->second, a.ingress_channels[i], a.dest_device, a.egress_channels[i]});
    }
  for (const device::EthLink& l : links_of(cluster, device)) add(l);
  return out;
}

}  // namespace buda::pipes
