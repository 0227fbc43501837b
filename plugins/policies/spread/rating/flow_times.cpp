// SPDX-License-Identifier: Apache-2.0
// An epoch as a pipeline.
#include "flow_times.hpp"

#include <buda/balance/cost/flow.hpp>
#include <buda/balance/policy/neighbours.hpp>
#include "queue_times.hpp"

#include <map>

namespace buda::balance {

const FlowTimes::Alone& FlowTimes::alone(OpId op, const OpModel& model) {
  const auto [known, fresh] = alone_.try_emplace({placement_.space().kind_of(op), shape_of(model)});
  Alone& out = known->second;
  if (!fresh) return out;
  const netlist::Op blocked = with_model(placement_.space().op(op), model);
  const QueueTimes::Times& queues = model_.times.times(op, model);
  out.op = pipeline_op(blocked, model.kernel_cycles, 0);
  out.written = queues.written;
  for (std::size_t i = 0; i < queues.read.size(); ++i)
    out.op.inputs.push_back(queue_input(blocked, i, queues.read[i], placement_.space().device()));
  return out;
}

cost::PipelineTimes FlowTimes::times(std::size_t end) {
  std::vector<cost::PipelineOp> ops;
  std::map<OpId, std::size_t> numbers;
  for (OpId id : placement_.in_epoch()) {
    const OpModel& model = placement_.placed(id).model;
    const OpSpec& spec = placement_.space().op(id);
    const QueueWays ways = ways_in_epoch(placement_, id, end);
    const Alone& known = alone(id, model);
    cost::PipelineOp op = known.op;
    op.inputs.clear();
    op.write = ways.written || spec.outputs > 0 ? known.written : 0;
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      const OpId from = spec.operands[i].from.op;
      if (model.is_resident(i)) continue;
      if (!from.valid() || (ways.read >> i & 1) != 0) {
        op.inputs.push_back(known.op.inputs[i]);
      } else if (const auto& route = model_.intakes.route(id, model, i, placement_.placed(from).model)) {
        op.inputs.push_back(route->input);
        op.inputs.back().from = numbers.at(from);
      }
    }
    numbers[id] = ops.size();
    ops.push_back(std::move(op));
  }
  return cost::pipeline_times(ops);
}

}  // namespace buda::balance
