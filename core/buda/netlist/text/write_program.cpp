// SPDX-License-Identifier: Apache-2.0
// Writes programs and fused ops.
#include <buda/netlist/text/write_context.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

std::string value_text(const Value& v) { return v.is_variable() ? name_text(v.variable) : cat(v.immediate); }

std::string flag_text(const Value& v) {
  if (v.is_variable() || v.immediate < 0 || v.immediate > 1) return value_text(v);
  return v.immediate == 1 ? "true" : "false";
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const auto& n : names) parts.push_back(name_text(n));
  return list_text(parts);
}

}  // namespace

FlowMap setting_fields(const QueueSetting& s) {
  FlowMap map;
  auto flag = [&](std::string_view key, const std::optional<Value>& v) {
    if (v) map.add(key, flag_text(*v));
  };
  auto number = [&](std::string_view key, const std::optional<Value>& v) {
    if (v) map.add(key, value_text(*v));
  };
  flag("prologue", s.prologue);
  flag("epilogue", s.epilogue);
  flag("zero", s.zero);
  number("rd_ptr_local", s.rd_ptr_local);
  number("rd_ptr_global", s.rd_ptr_global);
  number("wr_ptr_global", s.wr_ptr_global);
  number("rd_ptr_autoinc", s.rd_ptr_autoinc);
  number("global_rdptr_autoinc", s.global_rdptr_autoinc);
  number("global_wrptr_autoinc", s.global_wrptr_autoinc);
  flag("read_only", s.read_only);
  return map;
}

namespace {

struct InstructionWriter {
  std::string& out;

  void operator()(const instruction::Param& p) const { out += cat("param: ", names_text(p.names)); }
  void operator()(const instruction::Var& v) const {
    out += v.is_static ? "staticvar: " : "var: ";
    bool zeros = std::all_of(v.values.begin(), v.values.end(), [](const auto& entry) { return entry.second == 0; });
    std::vector<std::string> parts;
    for (const auto& [name, value] : v.values) parts.push_back(zeros ? name_text(name) : cat(name_text(name), ": ", value));
    out += zeros ? list_text(parts) : cat('{', join(parts, ", "), '}');
  }
  void operator()(const instruction::VarInst& v) const {
    out += cat("varinst: [", name_text(v.out), ", ", name_of(v.op));
    for (const auto& arg : v.args) out += cat(", ", value_text(arg));
    out += ']';
  }
  void operator()(const instruction::Loop& l) const { out += cat("loop: ", value_text(l.count)); }
  void operator()(const instruction::EndLoop&) const { out += "endloop"; }
  void operator()(const instruction::Allocate& a) const { out += cat("allocate_queue: ", names_text(a.queues)); }
  void operator()(const instruction::Deallocate& d) const { out += cat("deallocate_queue: ", names_text(d.queues)); }
  void operator()(const instruction::Execute& e) const {
    out += cat("execute: {graph_name: ", name_text(e.graph));
    if (e.settings.empty()) {
      out += '}';
      return;
    }
    out += ", queue_settings: {";
    for (std::size_t i = 0; i < e.settings.size(); ++i)
      out += cat(i == 0 ? "" : ",", "\n            ", name_text(e.settings[i].queue), ": ", setting_fields(e.settings[i]).text());
    out += "}}";
  }
};

std::string operands_text(const std::vector<SubOperand>& operands) {
  std::vector<std::string> parts;
  for (const auto& o : operands) parts.push_back(text(o));
  return list_text(parts);
}

}  // namespace

std::string instruction_text(const Instruction& instruction) {
  std::string out;
  std::visit(InstructionWriter{out}, instruction.what);
  return out;
}

FlowMap sub_op_fields(const SubOp& op) {
  FlowMap map;
  map.add("type", op_type_name(op.type));
  std::vector<SubOperand> inputs;
  for (const auto& input : op.inputs) inputs.push_back(input.operand);
  map.add("inputs", operands_text(inputs));
  map.add("output", text(op.output));
  map.add("mblock", cat('[', op.block.mblock_m, ", ", op.block.mblock_n, ']'));
  map.add("ublock", cat('[', op.block.ublock_rt, ", ", op.block.ublock_ct, ']'));
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (!op.inputs[i].tms.empty()) map.add(cat("input_", i, "_tms"), tms_text(op.inputs[i].tms));
  if (op.attributes.zero_point != 0) map.add("zero_point", real_text(op.attributes.zero_point));
  if (!op.pop.empty()) map.add("pop", operands_text(op.pop));
  if (!op.pop_last.empty()) map.add("pop_last", operands_text(op.pop_last));
  if (FlowMap attributes = attribute_fields(op.attributes, nullptr); !attributes.empty()) map.add("attributes", attributes.text());
  return map;
}

void write_program(const Program& program, std::string& out) {
  out += cat("  - ", name_text(program.name), ":");
  if (program.instructions.empty()) out += " []";
  out += '\n';
  for (const auto& inst : program.instructions) {
    out += cat("      - ", instruction_text(inst), '\n');
  }
}

void write_fused_op(const FusedOp& fused, std::string& out) {
  out += cat("  ", name_text(fused.id), ":\n    inputs: ", fused.inputs, "\n    intermediates: ", fused.intermediates, '\n');
  if (!fused.custom_kernel_path.empty()) out += cat("    custom_kernel_path: ", name_text(fused.custom_kernel_path), '\n');
  out += "    schedules:";
  if (fused.schedules.empty()) out += " []";
  out += '\n';
  for (const auto& schedule : fused.schedules) {
    out += schedule.empty() ? "      - []\n" : "      -\n";
    for (const auto& op : schedule) out += cat("        - ", name_text(op.name), ": ", sub_op_fields(op).text(), '\n');
  }
}

}  // namespace buda::netlist
