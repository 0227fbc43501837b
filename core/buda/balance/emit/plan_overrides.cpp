// SPDX-License-Identifier: Apache-2.0
// Overrides of all ops (legalize/overrides.hpp).
#include <buda/balance/emit/plan_overrides.hpp>

#include <buda/balance/legalize/shape_overrides.hpp>
#include <buda/balance/problem/selection.hpp>
#include <buda/base/text.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::balance {
namespace {

// It places one op after the other, and begins an epoch only where it has to.
constexpr const char* kPolicyInOrder = "minimize_grid";

const char* yes_or_no(bool value) { return value ? "true" : "false"; }

// "0:1,2:1": operands, and how many whole inputs their buffers hold; empty where that is left to the balancer.
std::string buffered_inputs(const OpSpec& spec, const OpModel& model) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const Operand& operand = spec.operands[i];
    const bool is_held = operand.from.op.valid() && !operand.queued && !tiling::takes_rows(spec.op, i);
    const std::int64_t held = operand.buffered_inputs > 0 ? operand.buffered_inputs : is_held ? model.held_inputs : 0;
    if (held > 0) out.push_back(cat(i, ':', held));
  }
  return join(out, ",");
}

const char* wide_sums(const netlist::Op& op) {
  if (op.acc_format != DataFormat::float32) return "none";
  return op.intermed_format == DataFormat::float32 ? "all" : "sums";
}

std::string resident_inputs(const OpSpec& spec, const OpModel& model) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < spec.operands.size(); ++i)
    if (model.is_resident(i)) out.push_back(cat(i));
  return cat('[', join(out, ","), ']');
}

bool has_constants(const OpSpec& spec) {
  for (const Operand& operand : spec.operands)
    if (operand.constant) return true;
  return false;
}

OverrideTexts overrides_of(const OpSpec& spec, const PlacedOp& placed) {
  const OpModel& m = placed.model;
  OverrideTexts out = shape_overrides(m);
  out["buf_size_mb"] = cat(m.buf_size_mb);
  out["place"] = pair_override(placed.place.at.row, placed.place.at.col);
  out["transpose"] = yes_or_no(placed.place.transposed);
  if (has_constants(spec)) out["resident-inputs"] = resident_inputs(spec, m);
  if (spec.selection && spec.selection->slices > 1) out["bands"] = cat(m.bands);
  if (spec.sum_roundings > 0) out["wide-sums"] = wide_sums(spec.op);
  if (std::string buffered = buffered_inputs(spec, m); !buffered.empty()) out["input-buffer-multiplier"] = std::move(buffered);
  return out;
}

Failure no_options(const char* why) { return usage_error("BL054", cat("the plan cannot be written as options: ", why)); }

}  // namespace

Result<std::map<std::string, std::string>> plan_overrides(const Problem& problem, const Choice& choice, SchedulePolicy schedule) {
  if (!choice.chips.empty()) return no_options("it has several chips, between which it copies values that the graph has no ops for");
  std::map<std::string, std::string> out = {{"policy", kPolicyInOrder}, {"scheduler", std::string(name_of(schedule))}};
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const OpSpec& spec = problem.ops[i];
    const std::int32_t before = i == 0 ? 0 : choice.ops[i - 1].epoch;
    if (choice.ops[i].epoch < before) return no_options("its epochs do not follow the order of the ops (--scheduler)");
    const std::string prefix = cat("op.", spec.node_name, '.');
    for (auto& [key, value] : overrides_of(spec, choice.ops[i])) out[prefix + key] = std::move(value);
    if (choice.ops[i].epoch > before) out[prefix + "epoch-break"] = "true";
  }
  return out;
}

}  // namespace buda::balance
