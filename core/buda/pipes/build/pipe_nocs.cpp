// SPDX-License-Identifier: Apache-2.0
// Chooses networks by distance.
#include <buda/pipes/build/pipe_nocs.hpp>

#include <buda/pipes/build/queue_address.hpp>
#include <buda/pipes/noc/noc.hpp>

namespace buda::pipes {

void choose_nocs(const PlacedEpoch& epoch, std::size_t op, std::size_t number, Pipe& pipe) {
  const EpochPlan& plan = epoch.plan;
  const OpPlan& p = plan.ops[op];
  const InputPlan& input = p.inputs[number];
  const Multicast& multicast = input.multicast;
  const bool shared = input.routes.axis != MulticastAxis::core && pipe.outputs.front().size() > 1;
  const bool noc1 = multicast.noc1 || (multicast.axis == MulticastAxis::core && p.op->grid_transpose != (number % 2 == 1));
  pipe.outgoing_noc = noc1 ? 1 : 0;
  pipe.incoming_vc = kUnicastChannel;
  pipe.outgoing_vc = shared ? kMulticastChannel : kUnicastChannel;
  if (input.prologue) {
    pipe.incoming_noc = noc1 ? 0 : 1;
  } else if (!input.source.is_queue()) {
    pipe.incoming_noc = nearer_noc(epoch.cores.noc(input.source.op, 0), epoch.cores.noc(op, 0), plan.device->noc);
  } else if (const QueuePlan& q = plan.queue_plan(input.source.queue);
             plan.netlist().queues[q.queue].location == netlist::QueueLocation::dram) {
    const device::NocCoord here =
        EpochPlan::is_ethernet(p) ? epoch.cores.noc(op, 0) : plan.device->noc_of_worker(pipe.mcast_core.front().core);
    pipe.incoming_noc = nearer_noc(dram_port_noc(plan, epoch.cores, q, 0), here, plan.device->noc);
  }
}

void choose_queue_nocs(const PlacedEpoch& epoch, std::size_t op, std::size_t core, const QueuePlan& q, std::size_t buffer, Pipe& pipe) {
  const EpochPlan& plan = epoch.plan;
  pipe.incoming_vc = pipe.outgoing_vc = kDramWriteChannel;
  if (plan.netlist().queues[q.queue].location != netlist::QueueLocation::dram) return;
  pipe.incoming_noc = pipe.outgoing_noc =
      nearer_noc(epoch.cores.noc(op, core), dram_port_noc(plan, epoch.cores, q, buffer), plan.device->noc);
}

}  // namespace buda::pipes
