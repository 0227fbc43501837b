// SPDX-License-Identifier: Apache-2.0
// Distances on the networks.
#include <buda/pipes/noc/noc.hpp>

namespace buda::pipes {
namespace {
std::int32_t around(std::int32_t from, std::int32_t to, std::int32_t size) { return ((to - from) % size + size) % size; }
}  // namespace

std::int32_t hops(int noc, device::NocCoord from, device::NocCoord to, device::NocSize size) {
  if (size.x < 1 || size.y < 1) return 0;
  return noc == 0 ? around(from.x, to.x, size.x) + around(from.y, to.y, size.y)
                  : around(to.x, from.x, size.x) + around(to.y, from.y, size.y);
}

int nearer_noc(device::NocCoord from, device::NocCoord to, device::NocSize size) {
  return hops(1, from, to, size) < hops(0, from, to, size) ? 1 : 0;
}

std::int32_t nearest_port(const device::DramChannel& channel, device::NocCoord core, device::NocSize size) {
  std::int32_t best = 0;
  for (std::size_t i = 1; i < channel.ports.size(); ++i)
    if (hops(0, channel.ports[i], core, size) < hops(0, channel.ports[static_cast<std::size_t>(best)], core, size))
      best = static_cast<std::int32_t>(i);
  return best;
}

}  // namespace buda::pipes
