// SPDX-License-Identifier: Apache-2.0
// Routes, and the figures of the networks.
#include <buda/sim/network/topology.hpp>

#include <buda/base/text.hpp>
#include <buda/cost/transfer_model.hpp>
#include <buda/overlay/traffic.hpp>
#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <cstddef>
#include <set>

namespace buda::sim {
namespace {

using device::NocCoord;
using pipes::NocLink;

}  // namespace

ResourceId Topology::known(const std::string& name, double bytes_per_cycle, Part part) {
  auto [it, fresh] = known_.try_emplace(name, 0);
  if (fresh) it->second = fabric_.add(name, bytes_per_cycle, part);
  return it->second;
}

ResourceId Topology::link(std::int32_t chip, std::int32_t noc, NocCoord from, NocCoord to) {
  return known(cat("NoC ", noc, ' ', from.text(), '>', to.text(), several_chips_ ? cat(" of chip ", chip) : std::string()),
               model_.parameters().link_rate / scale_.networks, Part::networks);
}

ResourceId Topology::interface(std::int32_t chip, std::int32_t noc, NocCoord node, Side side) {
  return known(cat(side == Side::source ? "output" : "input", " of NoC ", noc, " at ", node.text(),
                   several_chips_ ? cat(" of chip ", chip) : std::string()),
               model_.parameters().interface_rate / scale_.networks, Part::networks);
}

ResourceId Topology::memory(const overlay::DramBuffer& buffer) {
  if (buffer.host) return known("host", model_.host_rate(), Part::outside);
  const double rate = model_.channel_rate() / scale_.memories;
  const std::string channel = cat("DRAM ", several_chips_ ? cat(buffer.chip, '.') : std::string(), buffer.channel);
  if (device_.dram.bank_bytes <= overlay::kDramHalf) return known(channel, rate, Part::memories);
  return known(cat(channel, (buffer.address & overlay::kDramHalf) != 0 ? " upper half" : " lower half"), rate / 2, Part::memories);
}

Ticks Topology::latency(double of_network, double beyond) const { return ticks_of(of_network * scale_.networks + beyond); }

std::size_t Topology::add_way(Path& path, std::int32_t chip, std::int32_t noc, NocCoord from, const std::vector<NocCoord>& to) {
  std::set<NocLink> tree;
  std::size_t hops = 0;
  for (NocCoord target : to) {
    std::set<NocLink> way;
    pipes::add_route(noc, from, target, device_.noc, way);
    hops = std::max(hops, way.size());
    tree.insert(way.begin(), way.end());
  }
  path.resources.push_back(interface(chip, noc, from, Side::source));
  for (const auto& [a, b] : tree) path.resources.push_back(link(chip, noc, a, b));
  for (NocCoord target : to) path.resources.push_back(interface(chip, noc, target, Side::sink));
  return hops;
}

Path Topology::send(const overlay::Core& from, std::int32_t noc, const std::vector<const overlay::Core*>& to) {
  Path path;
  std::vector<NocCoord> targets;
  for (const overlay::Core* core : to) targets.push_back(core->noc);
  const std::size_t hops = add_way(path, from.chip, noc, from.noc, targets);
  // What is sent needs no request.
  path.latency = latency(model_.send_latency(static_cast<double>(hops)), 0);
  return path;
}

Path Topology::ethernet(const overlay::Core& from, const overlay::Core& to) {
  Path path;
  path.resources.push_back(known(cat("Ethernet ", from.chip, '.', from.ethernet.value_or(-1), '>', to.chip, '.', to.ethernet.value_or(-1)),
                                 model_.ethernet_rate(), Part::outside));
  path.latency = ticks_of(model_.parameters().ethernet_cycles);
  path.beyond = {path.latency, Part::outside};
  return path;
}

Path Topology::pcie(const overlay::Core& from, std::int32_t noc, NocCoord port, const overlay::Core& to) {
  Path path;
  std::size_t hops = add_way(path, from.chip, noc, from.noc, {port});
  path.resources.push_back(known(cat("PCIe ", from.chip, '>', to.chip), model_.host_rate(), Part::outside));
  hops += add_way(path, to.chip, 0, port, {to.noc});
  path.latency = latency(model_.relayed_latency(static_cast<double>(hops)), model_.parameters().pcie_cycles);
  path.beyond = {ticks_of(model_.parameters().pcie_cycles), Part::outside};
  return path;
}

// Of an access to memory, request and response.
void Topology::set_latency(Path& path, std::size_t hops, bool host) const {
  const double memory = model_.parameters().memory_cycles * (host ? 1 : scale_.memories);
  path.latency = latency(model_.request_latency(static_cast<double>(hops)), memory);
  path.beyond = {ticks_of(memory), host ? Part::outside : Part::memories};
}

Path Topology::read(const overlay::DramBuffer& buffer, const overlay::Core& to, std::int32_t noc) {
  Path path;
  path.resources.push_back(memory(buffer));
  const std::size_t hops = add_way(path, to.chip, noc, buffer.port, {to.noc});
  path.traffic = Traffic::answers;
  set_latency(path, hops, buffer.host);
  return path;
}

Path Topology::write(const overlay::Core& from, const overlay::DramBuffer& buffer, std::int32_t noc) {
  Path path;
  const std::size_t hops = add_way(path, from.chip, noc, from.noc, {buffer.port});
  path.resources.push_back(memory(buffer));
  path.traffic = Traffic::writes;
  set_latency(path, hops, buffer.host);
  return path;
}

}  // namespace buda::sim
