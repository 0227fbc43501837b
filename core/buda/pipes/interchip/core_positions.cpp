// SPDX-License-Identifier: Apache-2.0
// Positions of cores.
#include <buda/pipes/interchip/core_positions.hpp>

#include <buda/pipes/interchip/relays.hpp>

namespace buda::pipes {

GridCoord CorePositions::core(std::size_t op, std::size_t core) const {
  const EthernetCore* at = ethernet(op, core);
  return at == nullptr ? worker_of(*plan_->ops[op].op, core) : ethernet_core(*plan_->device, at->channel());
}

device::NocCoord CorePositions::noc(std::size_t op, std::size_t core) const {
  const EthernetCore* at = ethernet(op, core);
  return at == nullptr ? plan_->device->noc_of_worker(worker_of(*plan_->ops[op].op, core))
                       : plan_->device->eth[static_cast<std::size_t>(at->channel())];
}

}  // namespace buda::pipes
