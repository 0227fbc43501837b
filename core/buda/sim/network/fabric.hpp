// SPDX-License-Identifier: Apache-2.0
// Whatever bytes pass through: links and interfaces of the networks, DRAM, Ethernet links, the host's bus. Each is shared by the transfers
// that are under way.
//
// A transfer takes its share when it starts and keeps it to its end: of every resource on its path one part in as many as there are
// transfers then, and takes no longer than the bytes of all of them. Transfers are short (a few KiB), so shares follow the load closely,
// and a start costs as much as its path is long. Of five models of contention this came as near to traces of Wormhole as a fluid model that
// is solved anew at every change (decision 0020).
//
// What starts first keeps a larger share than is left for it, so a resource can be ahead of its full rate. No transfer ends before the
// resource has had time for all that has started but is not under way any more, and so a resource is never ahead by more than the transfers
// that share it.
//
// A transfer that is held up further on fills the buffers of the routers before it, so that others wait behind it which go elsewhere
// (head-of-line blocking), unless they are on another virtual channel: on every resource they wait for one transfer like the average of
// those that are held up, divided by the number of channels.
#pragma once

#include <buda/sim/time/jitter.hpp>
#include <buda/sim/time/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::sim {

using ResourceId = std::uint32_t;

// Transfers of one kind wait behind each other in routers.
enum class Traffic : std::uint8_t { writes, answers, apart };

// What could be made faster by itself.
enum class Part : std::uint8_t { networks, memories, outside };  // outside: Ethernet, PCIe, the host
inline constexpr std::size_t kParts = 3;
using Savings = std::array<Ticks, kParts>;

struct Path {
  std::vector<ResourceId> resources;  // each once, from source to sink
  Ticks latency = 0;                  // of a first byte, without contention
  Traffic traffic = Traffic::apart;
  struct Beyond {
    Ticks latency = 0;
    Part part = Part::memories;
  };
  Beyond beyond = {};  // the part of `latency` that is not the networks'
};

class Fabric {
 public:
  ResourceId add(std::string name, double bytes_per_cycle, Part part = Part::networks);
  // Transfers take more or less time than they should, from now on.
  void vary(Jitter jitter) { jitter_ = jitter; }

  struct Started {
    Ticks duration = 0;
    ResourceId slowest = 0;      // the resource that decides it
    std::uint32_t sharing = 0;   // transfers on that resource, this one included
    std::uint64_t slowness = 0;  // 2^-20 ticks per byte
    Savings saved = {};          // by Part: part of the duration that would be left out, if it were twice as fast
  };
  // The path has at least one resource. `now` is not before that of an earlier start.
  Started start(const Path& path, std::uint64_t bytes, Ticks now);
  void end(const Path& path, std::uint64_t bytes, const Started& started);

  // Transfers on a resource that are held up by another, further on.
  struct Held {
    ResourceId by = 0;
    std::uint32_t transfers = 0;
    std::uint64_t slowness = 0;  // of all together
    Savings saved = {};          // of all together: what of that would be left out
  };

  struct Resource {
    std::string name;
    std::uint64_t cost = 0;  // 2^-20 ticks per byte
    std::uint32_t transfers = 0;
    std::uint64_t under_way = 0;                 // bytes of these transfers
    std::uint64_t bytes = 0;                     // all that has passed
    std::uint64_t backlog = 0;                   // 2^-20 ticks after `seen` in which all that has started would pass at the full rate
    Ticks seen = 0;                              // the last start
    std::array<std::vector<Held>, 2> held = {};  // by Traffic
    std::uint64_t walk = 0;                      // number of the last start that passed here
    Part part = Part::networks;
  };
  const std::vector<Resource>& resources() const { return resources_; }
  // Part of `time` that the bytes of a resource take at its full rate.
  double utilisation(ResourceId id, Ticks time) const;

 private:
  static void add_backlog(Resource& resource, std::uint64_t bytes, Ticks now);
  // 2^-20 ticks per byte: all, and what of it would be left out if a part were twice as fast.
  struct Behind {
    std::uint64_t slowness = 0;
    Savings saved = {};
  };
  Behind waiting_behind(const Path& path, const Resource& resource) const;
  void hold(const Path& path, std::uint64_t bytes, const Started& started, bool begins);

  std::vector<Resource> resources_;
  Jitter jitter_;
  std::uint64_t walks_ = 0;
};

}  // namespace buda::sim
