// SPDX-License-Identifier: Apache-2.0
// The queues around the ops of an epoch.
#include "moved_queues.hpp"

#include <buda/balance/queues/queues.hpp>
#include "link_loads.hpp"
#include "queue_times.hpp"

namespace buda::balance {

double tensor_bytes(const netlist::TileShape& shape, DataFormat format, const device::DeviceDescriptor& device) {
  return static_cast<double>(shape.volume()) * tile_bytes(format, TileDim{}, device.tile_alignment);
}

std::vector<MovedQueue> moved_queues(const Placement& placement, std::size_t end) {
  std::vector<MovedQueue> out;
  for (OpId id : placement.in_epoch()) {
    const OpSpec& spec = placement.space().op(id);
    const OpModel& model = placement.placed(id).model;
    const QueueWays ways = ways_in_epoch(placement, id, end);
    const netlist::Op blocked = with_model(spec, model);
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      const OpId from = spec.operands[i].from.op;
      if (from.valid() && (ways.read >> i & 1) == 0) continue;
      out.push_back({from, true, queue_bytes(placement, blocked, model, i),
                     queue_buffers(placement, id, model, i, from.valid() ? &placement.placed(from).model : nullptr)});
    }
    if (spec.outputs > 0 || ways.written)
      out.push_back({id, false, tensor_bytes(spec.out, spec.op.out_format, placement.space().device()), model.cores()});
  }
  return out;
}

}  // namespace buda::balance
