// SPDX-License-Identifier: Apache-2.0
// Cores that read or write without end, each with several requests under way.
#include "placement.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/pipes/noc/routes.hpp>
#include <buda/sim/time/event_queue.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

namespace buda::silicon {
namespace {

using device::NocCoord;
using pipes::NocLink;
using sim::Ticks;

// How much the measured programs had under way is not known; this keeps a half of a channel busy.
constexpr std::uint64_t kRequestBytes = 2048;
constexpr int kRequests = 16;
constexpr double kCycles = 100'000;
constexpr int kDraws = 200;

struct Stream {
  NocCoord port, core;
};

// Halves of channels: the lower one by the first port, the upper one by the last.
std::vector<NocCoord> ports_of_halves(const device::DeviceDescriptor& device) {
  std::vector<NocCoord> out;
  for (const auto& channel : device.dram.channels) {
    out.push_back(channel.ports.front());
    out.push_back(channel.ports.back());
  }
  return out;
}

std::vector<NocCoord> workers(const device::DeviceDescriptor& device) {
  std::vector<NocCoord> out;
  for (auto x : device.workers.x)
    for (auto y : device.workers.y) out.push_back({x, y});
  return out;
}

// Of all streams together.
double gbs(const device::DeviceDescriptor& device, const std::vector<Stream>& streams, bool reads, std::int32_t noc,
           const FabricChange& change) {
  VariedFabric varied(device, change);
  std::vector<sim::Path> paths;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    overlay::DramBuffer half;
    half.port = streams[i].port;
    half.channel = static_cast<std::int32_t>(i / 2);
    half.address = i % 2 == 0 ? 0 : std::uint64_t{1} << 30;
    overlay::Core core;
    core.noc = streams[i].core;
    paths.push_back(reads ? varied.read(half, core, noc) : varied.write(core, half, noc));
  }
  sim::EventQueue events;
  for (std::uint32_t i = 0; i < streams.size(); ++i)
    for (int request = 0; request < kRequests; ++request) events.add(0, sim::EventKind::opened, i, 0);
  std::uint64_t bytes = 0;
  std::vector<sim::Fabric::Started> started;  // by cause of their ends
  while (events.next_time() < sim::ticks_of(kCycles)) {
    const sim::Event event = events.take();
    const sim::Path& path = paths[event.entity];
    if (event.kind == sim::EventKind::opened) {
      const auto cause = static_cast<std::uint32_t>(started.size());
      started.push_back(varied.fabric().start(path, kRequestBytes, event.time));
      events.add(event.time + started.back().duration, sim::EventKind::served, event.entity, cause);
    } else {
      varied.fabric().end(path, kRequestBytes, started[event.cause]);
      bytes += kRequestBytes;
      events.add(event.time + path.latency, sim::EventKind::opened, event.entity, 0);
    }
  }
  return static_cast<double>(bytes) / kCycles * device.cost.clock_ghz;
}

// Each stream's core where its way meets the fewest links that are taken, then where it is shortest.
std::vector<Stream> apart(const device::DeviceDescriptor& device, bool reads, std::int32_t noc) {
  const auto way_of = [&](NocCoord port, NocCoord core, std::set<NocLink>& links) {
    pipes::add_route(noc, reads ? port : core, reads ? core : port, device.noc, links);
  };
  std::set<NocLink> taken;
  std::vector<NocCoord> free = workers(device);
  std::vector<Stream> out;
  for (NocCoord port : ports_of_halves(device)) {
    std::pair<std::size_t, std::size_t> least{~std::size_t{0}, 0};
    std::size_t best = 0;
    for (std::size_t i = 0; i < free.size(); ++i) {
      std::set<NocLink> way;
      way_of(port, free[i], way);
      const auto shared =
          static_cast<std::size_t>(std::count_if(way.begin(), way.end(), [&](const NocLink& link) { return taken.contains(link); }));
      if (std::pair(shared, way.size()) >= least) continue;
      least = {shared, way.size()};
      best = i;
    }
    way_of(port, free[best], taken);
    out.push_back({port, free[best]});
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return out;
}

std::vector<Stream> at_random(const device::DeviceDescriptor& device, Rng& rng) {
  std::vector<NocCoord> free = workers(device);
  std::vector<Stream> out;
  for (NocCoord port : ports_of_halves(device)) {
    const auto at = static_cast<std::ptrdiff_t>(rng.below(free.size()));
    out.push_back({port, free[static_cast<std::size_t>(at)]});
    free.erase(free.begin() + at);
  }
  return out;
}

double random_gbs(const device::DeviceDescriptor& device, bool reads, std::int32_t noc, const FabricChange& change) {
  Rng rng;
  double sum = 0;
  for (int draw = 0; draw < kDraws; ++draw) sum += gbs(device, at_random(device, rng), reads, noc, change);
  return sum / kDraws;
}

}  // namespace

std::vector<PlacementSpeed> placement_speeds(const device::DeviceDescriptor& device, const FabricChange& change) {
  // Measured: tt-isa-documentation, DRAMTile; of a range its middle. Writes choose one virtual channel.
  return {{"reads, cores placed apart", 265, gbs(device, apart(device, true, 0), true, 0, change), 5},
          {"reads, random cores, NoC 0", 190, random_gbs(device, true, 0, change), 10},
          {"reads, random cores, NoC 1", 80, random_gbs(device, true, 1, change), 35},
          {"writes, cores placed apart", 261.5, gbs(device, apart(device, false, 0), false, 0, change), 5},
          {"writes, random cores, NoC 0", 54, random_gbs(device, false, 0, change), 35},
          {"writes, random cores, NoC 1", 144.5, random_gbs(device, false, 1, change), 35}};
}

std::string placement_table(const std::vector<PlacementSpeed>& speeds) {
  std::string out = "| twelve cores | measured GB/s | predicted GB/s | error % | goal % |\n|---|--:|--:|--:|--:|\n";
  for (const PlacementSpeed& s : speeds) {
    char text[96];
    std::snprintf(text, sizeof text, "%.1f | %.1f | %+.1f | ±%.0f%s", s.measured, s.predicted, s.error(), s.tolerance,
                  s.reached() ? "" : ", missed");
    out += cat("| ", s.name, " | ", text, " |\n");
  }
  return out;
}

}  // namespace buda::silicon
