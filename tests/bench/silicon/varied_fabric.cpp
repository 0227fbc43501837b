// SPDX-License-Identifier: Apache-2.0
// Resources are told apart by their names.
#include "varied_fabric.hpp"

#include <cmath>
#include <string>

namespace buda::silicon {
namespace {

constexpr int kCostBits = 20;  // of sim::Fabric::Resource::cost

double bytes_per_cycle(const sim::Fabric::Resource& resource) {
  return std::ldexp(static_cast<double>(perf::SimTime::kPerCycle), kCostBits) / static_cast<double>(resource.cost);
}

double factor_of(const std::string& name, const FabricChange& change) {
  if (name.starts_with("NoC")) return change.links;
  if (name.starts_with("DRAM")) return change.memories;
  return change.interfaces;
}

}  // namespace

sim::Path VariedFabric::changed(sim::Path path, double latency) {
  for (std::size_t i = fabric_.resources().size(); i < unchanged_.resources().size(); ++i) {
    const auto& resource = unchanged_.resources()[i];
    fabric_.add(resource.name, bytes_per_cycle(resource) * factor_of(resource.name, change_));
  }
  path.latency = static_cast<sim::Ticks>(std::llround(static_cast<double>(path.latency) * latency));
  return path;
}

sim::Path VariedFabric::between(const overlay::Core& from, const overlay::Core& to, std::int32_t noc) {
  return changed(topology_.send(from, noc, {&to}), change_.core_latency);
}

sim::Path VariedFabric::read(const overlay::DramBuffer& buffer, const overlay::Core& to, std::int32_t noc) {
  return changed(topology_.read(buffer, to, noc), change_.memory_latency);
}

sim::Path VariedFabric::write(const overlay::Core& from, const overlay::DramBuffer& buffer, std::int32_t noc) {
  return changed(topology_.write(from, buffer, noc), change_.memory_latency);
}

}  // namespace buda::silicon
