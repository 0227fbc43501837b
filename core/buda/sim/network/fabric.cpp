// SPDX-License-Identifier: Apache-2.0
// Fair shares in integers.
#include <buda/sim/network/fabric.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace buda::sim {
namespace {

constexpr int kCostBits = 20;
// Virtual channels of writes to memory, which choose one, and of answers, which are spread over four (tt-isa-documentation of Wormhole).
constexpr std::array<std::uint64_t, 2> kChannels{1, 4};

}  // namespace

ResourceId Fabric::add(std::string name, double bytes_per_cycle, Part part) {
  const double ticks_per_byte = static_cast<double>(perf::SimTime::kPerCycle) / bytes_per_cycle;
  resources_.push_back({std::move(name), static_cast<std::uint64_t>(std::llround(std::ldexp(ticks_per_byte, kCostBits)))});
  resources_.back().part = part;
  return static_cast<ResourceId>(resources_.size() - 1);
}

// 2^-20 ticks per byte that a transfer waits on a resource for those before it that are held up by what it does not pass itself.
Fabric::Behind Fabric::waiting_behind(const Path& path, const Resource& resource) const {
  const auto traffic = static_cast<std::size_t>(path.traffic);
  Behind out;
  std::uint64_t transfers = 0;
  for (const Held& held : resource.held[traffic]) {
    if (resources_[held.by].walk == walks_) continue;
    out.slowness += held.slowness;
    for (std::size_t part = 0; part < kParts; ++part) out.saved[part] += held.saved[part];
    transfers += held.transfers;
  }
  if (transfers == 0) return {};
  out.slowness = out.slowness / transfers / kChannels[traffic];
  for (std::uint64_t& saved : out.saved) saved = saved / transfers / kChannels[traffic];
  return out;
}

void Fabric::hold(const Path& path, std::uint64_t bytes, const Started& started, bool begins) {
  Savings saved = started.saved;
  for (Ticks& part : saved) part = bytes == 0 ? 0 : (part << kCostBits) / bytes;
  for (ResourceId id : path.resources) {
    if (id == started.slowest) return;
    auto& all = resources_[id].held[static_cast<std::size_t>(path.traffic)];
    auto held = std::find_if(all.begin(), all.end(), [&](const Held& h) { return h.by == started.slowest; });
    if (begins) {
      if (held == all.end()) held = all.insert(held, {started.slowest, 0, 0, {}});
      ++held->transfers;
      held->slowness += started.slowness;
      for (std::size_t part = 0; part < kParts; ++part) held->saved[part] += saved[part];
    } else {
      held->slowness -= started.slowness;
      for (std::size_t part = 0; part < kParts; ++part) held->saved[part] -= saved[part];
      if (--held->transfers == 0) all.erase(held);
    }
  }
}

void Fabric::add_backlog(Resource& resource, std::uint64_t bytes, Ticks now) {
  const Ticks passed = now - resource.seen;
  resource.backlog = passed > resource.backlog >> kCostBits ? 0 : resource.backlog - (passed << kCostBits);
  resource.backlog += bytes * resource.cost;
  resource.seen = now;
}

Fabric::Started Fabric::start(const Path& path, std::uint64_t bytes, Ticks now) {
  Started out;
  const bool queues = path.traffic != Traffic::apart;
  if (queues) {
    ++walks_;
    for (ResourceId id : path.resources) resources_[id].walk = walks_;
  }
  std::uint64_t slowest = 0;
  Savings fastest = {};  // the time, if a part were twice as fast
  for (ResourceId id : path.resources) {
    Resource& r = resources_[id];
    ++r.transfers;
    r.bytes += bytes;
    r.under_way += bytes;
    add_backlog(r, bytes, now);
    std::uint64_t time = r.cost * std::min(bytes * r.transfers, r.under_way);
    time = std::max(time, r.backlog - std::min(r.backlog, r.cost * r.under_way));
    const Behind behind = queues ? waiting_behind(path, r) : Behind();
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::uint64_t own = static_cast<std::size_t>(r.part) == part ? time / 2 : time;
      fastest[part] = std::max(fastest[part], own + (behind.slowness - behind.saved[part]) * bytes);
    }
    time += behind.slowness * bytes;
    if (time <= slowest) continue;
    slowest = time;
    out.slowest = id;
    out.sharing = r.transfers;
  }
  out.duration = jitter_.of((slowest >> kCostBits) + 1);
  for (std::size_t part = 0; part < kParts; ++part) out.saved[part] = (slowest - fastest[part]) >> kCostBits;
  out.slowness = bytes == 0 ? 0 : slowest / bytes;
  if (queues) hold(path, bytes, out, true);
  return out;
}

void Fabric::end(const Path& path, std::uint64_t bytes, const Started& started) {
  for (ResourceId id : path.resources) {
    --resources_[id].transfers;
    resources_[id].under_way -= bytes;
  }
  if (path.traffic != Traffic::apart) hold(path, bytes, started, false);
}

double Fabric::utilisation(ResourceId id, Ticks time) const {
  const Resource& r = resources_[id];
  return time == 0 ? 0 : std::ldexp(static_cast<double>(r.bytes) * static_cast<double>(r.cost), -kCostBits) / static_cast<double>(time);
}

}  // namespace buda::sim
