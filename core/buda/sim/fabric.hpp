// Whatever bytes pass through: links and interfaces of the networks, DRAM, Ethernet links, the host's bus. Each is shared by the transfers
// that are under way.
//
// A transfer takes its share when it starts and keeps it to its end: of every resource on its path one part in as many as there are
// transfers then, and takes no longer than the bytes of all of them. Transfers are short (a few KiB), so shares follow the load closely,
// and a start costs as much as its path is long. Of five models of contention this came as near to traces of Wormhole as a fluid model that
// is solved anew at every change (decision 0020).
#pragma once

#include <buda/sim/jitter.hpp>
#include <buda/sim/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::sim {

using ResourceId = std::uint32_t;

struct Path {
  std::vector<ResourceId> resources;  // each once
  Ticks latency = 0;                  // of a first byte, without contention
};

class Fabric {
 public:
  ResourceId add(std::string name, double bytes_per_cycle);
  // Transfers take more or less time than they should, from now on.
  void vary(Jitter jitter) { jitter_ = jitter; }

  struct Started {
    Ticks duration = 0;
    ResourceId slowest = 0;     // the resource that decides it
    std::uint32_t sharing = 0;  // transfers on that resource, this one included
  };
  // The path has at least one resource.
  Started start(const Path& path, std::uint64_t bytes);
  void end(const Path& path, std::uint64_t bytes);

  struct Resource {
    std::string name;
    std::uint64_t cost = 0;  // 2^-20 ticks per byte
    std::uint32_t transfers = 0;
    std::uint64_t under_way = 0;  // bytes of these transfers
    std::uint64_t bytes = 0;      // all that has passed
  };
  const std::vector<Resource>& resources() const { return resources_; }
  // Part of `time` that the bytes of a resource take at its full rate.
  double utilisation(ResourceId id, Ticks time) const;

 private:
  std::vector<Resource> resources_;
  Jitter jitter_;
};

}  // namespace buda::sim
