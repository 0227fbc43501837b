// Fair shares in integers.
#include <buda/sim/fabric.hpp>

#include <algorithm>
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
    r.under_way += bytes;
    const std::uint64_t time = r.cost * std::min(bytes * r.transfers, r.under_way);
    if (time <= slowest) continue;
    slowest = time;
    out.slowest = id;
    out.sharing = r.transfers;
  }
  out.duration = jitter_.of((slowest >> kCostBits) + 1);
  return out;
}

void Fabric::end(const Path& path, std::uint64_t bytes) {
  for (ResourceId id : path.resources) {
    --resources_[id].transfers;
    resources_[id].under_way -= bytes;
  }
}

double Fabric::utilisation(ResourceId id, Ticks time) const {
  const Resource& r = resources_[id];
  return time == 0 ? 0 : std::ldexp(static_cast<double>(r.bytes) * static_cast<double>(r.cost), -kCostBits) / static_cast<double>(time);
}

}  // namespace buda::sim
