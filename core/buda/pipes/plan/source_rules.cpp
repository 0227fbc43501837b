// SPDX-License-Identifier: Apache-2.0
// Checks sources of inputs.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/plan/source_rules.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/over_pcie.hpp>
#include <buda/pipes/plan/not_supported.hpp>

#include <string>

namespace buda::pipes {

using netlist::Field;
using netlist::Op;
using netlist::Queue;
using tiling::takes_rows;

namespace {

Diagnostic input_rule(const EpochPlan& plan, const char* code, const Op& op, Field field, std::size_t input, const std::string& message) {
  Diagnostic d = input_error(code, plan.netlist().loc(op.places.of(field)), cat("op '", op.name, "', input ", input, ": ", message));
  d.node = op.name;
  return d;
}

Result<void> check_queue(const EpochPlan& plan, const OpPlan& p, std::size_t input, const Queue& q) {
  const Op& op = *p.op;
  const int number = static_cast<int>(input);
  const bool is_remote = source_chip(plan, p.inputs[input].source, p.chip) != p.chip;
  const netlist::Netlist& netlist = plan.netlist();
  const QueueUse use = plan.epoch->use_of(q.name);
  BUDA_TRY(check_ring(plan, op, q, p.chip));
  if ((is_remote || EpochPlan::is_ethernet(p)) && use.prologue)
    return not_supported(netlist, op, cat("reading queue '", q.name, "' of chip ", q.target_device, " on chip ", p.chip, " as a prologue"),
                         number, "read it while the epoch runs, with prologue: false, or keep it on the chip where it is used");
  if (takes_rows(op, input) && is_remote && ops::looks_up_rows(op.type))
    return not_supported(netlist, op, "an embedding table on another chip than the core that has the indices", number,
                         "keep the table on the op's chip; the indices may come from another");
  const bool is_flat = q.layout == netlist::QueueLayout::flat;
  if (takes_rows(op, input) != is_flat && !is_index_list(op, input)) {
    Diagnostic d = input_rule(
        plan, "PP014", op, Field::inputs, input,
        cat("queue '", q.name, "' holds ", is_flat ? "rows of datums" : "tiles", ", and the op takes ", is_flat ? "tiles" : "rows"));
    d.hint = is_flat ? "make tiles of the rows with a tilizer" : "give the queue the layout flat";
    return d;
  }
  if (!use.epilogue) return success();
  Diagnostic d = input_error("PP013", netlist.loc(q.places.self),
                             cat("queue '", q.name, "' is read by op '", op.name, "' and must not be an epilogue"));
  d.node = q.name;
  return d;
}

Result<void> check_producer(const EpochPlan& plan, const OpPlan& p, std::size_t input, const OpPlan& producer) {
  const Op &op = *p.op, &from = *producer.op;
  if (takes_rows(op, input))
    return input_rule(plan, "PP014", op, Field::inputs, input, "rows come from a queue in flat layout, not from an op");
  BUDA_TRY(check_ring(plan, op, cat("op '", from.name, "'"), producer.chip, p.chip));
  if (!class_of(from).has_output)
    return input_rule(plan, "PP014", op, Field::inputs, input, cat("op '", from.name, "' is a drainer, which has no output"));
  if (from.untilize_output || from.gradient_op)
    return input_rule(plan, "PP014", op, Field::inputs, input,
                      cat("the ", from.gradient_op ? "gradient" : "untilized", " output of op '", from.name, "' can only go to a queue"));
  return success();
}

}  // namespace

std::int32_t source_chip(const EpochPlan& plan, const Source& source, std::int32_t chip) {
  if (!source.is_queue()) return plan.ops[source.op].chip;
  return plan.device->eth.empty() ? chip : plan.netlist().queues[source.queue].target_device;
}

bool is_index_list(const Op& op, std::size_t input) { return operand_row(op, input).role == netlist::OperandRole::row_numbers; }

Result<void> check_source(const EpochPlan& plan, const OpPlan& p, std::size_t input) {
  const Op& op = *p.op;
  const Source& source = p.inputs[input].source;
  DataFormat format{};
  if (source.is_queue()) {
    const Queue& q = plan.netlist().queues[source.queue];
    BUDA_TRY(check_queue(plan, p, input, q));
    format = q.format;
  } else {
    BUDA_TRY(check_producer(plan, p, input, plan.ops[source.op]));
    format = plan.ops[source.op].op->out_format;
  }
  if (format == op.inputs[input].format) return success();
  return input_rule(
      plan, "PP015", op, Field::in_df, input,
      cat("in_df is ", format_name(op.inputs[input].format), ", and '", op.inputs[input].name, "' holds ", format_name(format)));
}

}  // namespace buda::pipes
