// SPDX-License-Identifier: Apache-2.0
// Lists ops and queues.
#include <buda/pipes/plan/list_ops.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace buda::pipes {

using netlist::Field;
using netlist::Op;

namespace {

Result<void> check_position(const EpochPlan& plan, const Op& op) {
  const GridShape workers = plan.device->grid();
  const GridRect place = op.occupied();
  if (class_of(op).on_ethernet || (place.origin.row >= 0 && place.origin.col >= 0 && place.origin.row + place.shape.rows <= workers.rows &&
                                   place.origin.col + place.shape.cols <= workers.cols))
    return success();
  return does_not_fit("PP009", op.name, "workers", static_cast<std::uint64_t>(place.origin.row + place.shape.rows),
                      static_cast<std::uint64_t>(workers.rows),
                      cat("op '", op.name, "' is on rows ", place.origin.row, " to ", place.origin.row + place.shape.rows - 1, ", columns ",
                          place.origin.col, " to ", place.origin.col + place.shape.cols - 1, "; '", plan.device->name, "' has ",
                          workers.rows, " rows and ", workers.cols, " columns of workers"),
                      "choose another grid_loc or grid_size, or a larger device");
}

Result<void> check_op(const EpochPlan& plan, const Op& op) {
  BUDA_TRY(check_position(plan, op));
  if (op.buf_size_mb > 1 && op.buf_size_mb % 2 != 0) {
    Diagnostic d = input_error("PP010", plan.netlist().loc(op.places.of(Field::buf_size_mb)),
                               cat("op '", op.name, "': buf_size_mb ", op.buf_size_mb, " is odd; above 1 it is split into two halves"));
    d.node = op.name;
    return d;
  }
  const std::size_t needed = expected_inputs(op).min;
  if (op.inputs.size() < needed) {
    Diagnostic d = input_error("PP011", plan.netlist().loc(op.places.of(Field::inputs)),
                               cat("op '", op.name, "' has ", op.inputs.size(), " inputs; its type and attributes need ", needed));
    d.node = op.name;
    return d;
  }
  return success();
}

Result<Source> find_source(const EpochPlan& plan, const Op& op, std::size_t input) {
  const std::string& name = op.inputs[input].name;
  Source source;
  source.queue = plan.index->queue(name);
  if (source.is_queue()) return source;
  auto it = plan.op_index.find(name);
  if (it != plan.op_index.end()) {
    source.op = it->second;
    return source;
  }
  auto other = plan.index->op(name);
  std::string why = other.op == nullptr ? cat("there is no queue or op '", name, "'")
                                        : cat("op '", name, "' is in graph '", other.graph->name, "', which runs in another epoch");
  Diagnostic d = input_error("PP012", plan.netlist().loc(op.places.of(Field::inputs)), cat("op '", op.name, "', input ", input, ": ", why));
  d.node = op.name;
  if (other.op != nullptr) d.hint = "ops of different epochs exchange data through queues";
  return d;
}

QueuePlan& use_queue(EpochPlan& plan, std::size_t queue) {
  auto [it, fresh] = plan.queue_index.emplace(queue, plan.queues.size());
  if (fresh) {
    QueuePlan q;
    q.queue = queue;
    q.use = plan.epoch->use_of(plan.netlist().queues[queue].name);
    plan.queues.push_back(std::move(q));
  }
  return plan.queues[it->second];
}

void add_op(EpochPlan& plan, const netlist::Graph& graph, const Op& op, Failure& failure) {
  OpPlan p;
  p.op = &op;
  p.graph = &graph;
  p.chip = EpochPlan::is_ethernet(p) ? op.attributes.dest_device : graph.target_device;
  p.inputs.resize(std::min(op.inputs.size(), expected_inputs(op).max));
  if (auto checked = check_op(plan, op); !checked) failure.add(std::move(checked).failure());
  plan.op_index.emplace(op.name, plan.ops.size());
  plan.ops.push_back(std::move(p));
}

}  // namespace

Result<EpochPlan> list_ops(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                           const device::Cluster& cluster) {
  EpochPlan plan;
  plan.index = &index;
  plan.device = &device;
  plan.cluster = &cluster;
  plan.epoch = &epoch;
  Failure failure;
  for (const netlist::Graph* graph : epoch.graphs)
    for (const Op& op : graph->ops) add_op(plan, *graph, op, failure);
  for (std::size_t o = 0; o < plan.ops.size(); ++o) {
    OpPlan& p = plan.ops[o];
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      auto source = find_source(plan, *p.op, i);
      if (source) {
        p.inputs[i].source = *source;
      } else {
        failure.add(std::move(source).failure());
      }
    }
    for (std::size_t q : index.queues_written_by(p.op->name)) {
      p.output_queues.push_back(q);
      use_queue(plan, q).writer = o;
    }
  }
  if (!failure.empty()) return failure;
  for (std::size_t o = 0; o < plan.ops.size(); ++o)
    for (const InputPlan& input : plan.ops[o].inputs)
      if (input.source.is_queue()) {
        auto& readers = use_queue(plan, input.source.queue).readers;
        if (readers.empty() || readers.back() != o) readers.push_back(o);
      }
  return plan;
}

}  // namespace buda::pipes
