// Fair shares in integers.
#include <buda/sim/fabric.hpp>

#include <cmath>
#include <utility>

namespace buda::sim {
namespace {

constexpr int kCostBits = 20;

}  // namespace

ResourceId Fabric::add(std::string name, double bytes_per_cycle) {
  const double ticks_per_byte = static_cast<double>(perf::SimTime::kPerCycle) / bytes_per_cycle;
  resources_.push_back({std::move(name), static_cast<std::uint64_t>(std::llround(std::ldexp(ticks_per_byte, kCostBits))), 0, 0});
  return static_cast<ResourceId>(resources_.size() - 1);
}

Fabric::Started Fabric::start(const Path& path, std::uint64_t bytes) {
  Started out;
  std::uint64_t slowest = 0;
  for (ResourceId id : path.resources) {
    Resource& r = resources_[id];
    ++r.transfers;
    r.bytes += bytes;
    if (r.cost * r.transfers <= slowest) continue;
    slowest = r.cost * r.transfers;
    out.slowest = id;
    out.sharing = r.transfers;
  }
  out.duration = jitter_.of(((bytes * slowest) >> kCostBits) + 1);
  return out;
}

void Fabric::end(const Path& path) {
  for (ResourceId id : path.resources) --resources_[id].transfers;
}

double Fabric::utilisation(ResourceId id, Ticks time) const {
  const Resource& r = resources_[id];
  return time == 0 ? 0 : std::ldexp(static_cast<double>(r.bytes) * static_cast<double>(r.cost), -kCostBits) / static_cast<double>(time);
}

}  // namespace buda::sim
