// SPDX-License-Identifier: Apache-2.0
// Dimension by dimension.
#include <buda/pipes/noc/routes.hpp>

namespace buda::pipes {

using device::NocCoord;

NocCoord neighbour(std::int32_t noc, NocAxis axis, NocCoord at, device::NocSize size) {
  const std::int32_t step = noc == 0 ? 1 : -1;
  if (axis == NocAxis::x) return {(at.x + step + size.x) % size.x, at.y};
  return {at.x, (at.y + step + size.y) % size.y};
}

void add_route(std::int32_t noc, NocCoord from, NocCoord to, device::NocSize size, std::set<NocLink>& out) {
  for_each_hop(noc, from, to, size, [&](NocAxis axis, NocCoord at) { out.insert({at, neighbour(noc, axis, at, size)}); });
}

}  // namespace buda::pipes
