// SPDX-License-Identifier: Apache-2.0
// Finds the steps before the column is spread, and gives inputs and intermediates new numbers in both parts.
#include <buda/balance/problem/split_fused.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::balance {
namespace {

using netlist::FusedOp;
using netlist::Op;
using netlist::SubOp;
using netlist::SubOperand;
using netlist::SubOpInput;
using netlist::Tm;
using Kind = SubOperand::Kind;

bool is_column_broadcast(const Tm& tm) { return tm.kind == netlist::TmKind::broadcast && tm.dim == netlist::Dim::c; }

bool spreads(const SubOpInput& in) { return std::any_of(in.tms.begin(), in.tms.end(), is_column_broadcast); }

// The numbers that inputs, or intermediates, of a whole have in a part of it.
class Renumbering {
 public:
  std::int32_t number(std::int32_t old) {
    auto found = std::find(old_.begin(), old_.end(), old);
    if (found == old_.end()) found = old_.insert(old_.end(), old);
    return static_cast<std::int32_t>(found - old_.begin());
  }
  bool has(std::int32_t old) const { return std::find(old_.begin(), old_.end(), old) != old_.end(); }
  const std::vector<std::int32_t>& all() const { return old_; }

 private:
  std::vector<std::int32_t> old_;
};

// Takes steps over into a part.
class PartMaker {
 public:
  // `column`: the intermediate that holds it.
  PartMaker(const Op& op, std::int32_t column) : op_(op), column_(column) {}

  void add(SubOp step) {
    for (SubOpInput& in : step.inputs) {
      if (is_column(in.operand)) {
        std::erase_if(in.tms, is_column_broadcast);
        reads_column_ = true;
      }
      take_over(in.operand);
    }
    if (is_column(step.output)) {
      step.output = {Kind::output, 0};
    } else {
      take_over(step.output);
    }
    keep_known(step.pop);
    keep_known(step.pop_last);
    steps_.push_back(std::move(step));
  }

  FusedPart finish(const FusedOp& body) {
    FusedPart out{op_, body};
    out.op.inputs.clear();
    for (std::int32_t old : inputs_.all()) out.op.inputs.push_back(op_.inputs[static_cast<std::size_t>(old)]);
    const auto column = static_cast<std::int32_t>(out.op.inputs.size());
    for (SubOp& step : steps_)
      for (SubOpInput& in : step.inputs)
        if (in.operand == SubOperand{Kind::input, kColumnInput}) in.operand.index = column;
    out.body.inputs = column + (reads_column_ ? 1 : 0);
    out.body.intermediates = static_cast<std::int32_t>(intermediates_.all().size());
    out.body.schedules = {std::move(steps_)};
    return out;
  }

 private:
  // The column as an input, until the number of the others is known.
  static constexpr std::int32_t kColumnInput = -1;

  bool is_column(const SubOperand& operand) const { return operand.kind == Kind::intermed && operand.index == column_; }
  void take_over(SubOperand& operand) {
    if (is_column(operand)) {
      operand = {Kind::input, kColumnInput};
    } else if (operand.kind == Kind::input) {
      operand.index = inputs_.number(operand.index);
    } else if (operand.kind == Kind::intermed) {
      operand.index = intermediates_.number(operand.index);
    }
  }
  // What is popped and belongs to this part; the column is an output or an input now, and needs no such mention.
  void keep_known(std::vector<SubOperand>& popped) {
    std::vector<SubOperand> out;
    for (SubOperand operand : popped) {
      const bool is_known = operand.kind == Kind::input      ? inputs_.has(operand.index)
                            : operand.kind == Kind::intermed ? intermediates_.has(operand.index)
                                                             : true;
      if (!is_known) continue;
      take_over(operand);
      out.push_back(operand);
    }
    popped = std::move(out);
  }

  const Op& op_;
  std::int32_t column_;
  bool reads_column_ = false;
  Renumbering inputs_, intermediates_;
  std::vector<SubOp> steps_;
};

// The intermediate that is spread, and how often; nothing if there are several.
struct Column {
  std::int32_t intermediate = 0, factor = 1;
};
std::optional<Column> column_of(const std::vector<SubOp>& steps) {
  std::optional<Column> out;
  for (const SubOp& step : steps)
    for (const SubOpInput& in : step.inputs)
      for (const Tm& tm : in.tms) {
        if (!is_column_broadcast(tm)) continue;
        if (in.operand.kind != Kind::intermed || (out && (out->intermediate != in.operand.index || out->factor != tm.factor)))
          return std::nullopt;
        out = Column{in.operand.index, tm.factor};
      }
  return out;
}

// The step that writes it last, before any step reads it: all steps until then belong to it, and nothing but it goes on.
std::optional<std::size_t> end_of_column(const std::vector<SubOp>& steps, std::int32_t column) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].output.kind != Kind::intermed || steps[i].output.index != column) continue;
    for (std::size_t k = i + 1; k < steps.size(); ++k)
      for (const SubOpInput& in : steps[k].inputs) {
        const bool reads_before = in.operand.kind == Kind::dest && k == i + 1;
        const bool reads_unspread = in.operand.kind == Kind::intermed && in.operand.index == column && !spreads(in);
        if (reads_before || reads_unspread) return std::nullopt;
      }
    return i + 1;
  }
  return std::nullopt;
}

}  // namespace

bool spreads_column(const FusedOp& body) {
  return std::any_of(body.schedules.begin(), body.schedules.end(), [](const std::vector<SubOp>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const SubOp& step) { return std::any_of(step.inputs.begin(), step.inputs.end(), spreads); });
  });
}

std::optional<SplitFused> split_fused(const Op& op, const FusedOp& body) {
  if (body.schedules.empty() || body.schedules.size() > 2) return std::nullopt;
  std::vector<SubOp> steps;
  for (const auto& schedule : body.schedules) steps.insert(steps.end(), schedule.begin(), schedule.end());
  const auto column = column_of(steps);
  if (!column || op.grid.cols != 1 || op.shape().ct != column->factor) return std::nullopt;
  const auto end = end_of_column(steps, column->intermediate);
  if (!end || (body.schedules.size() == 2 && *end != body.schedules.front().size())) return std::nullopt;
  PartMaker first(op, column->intermediate), second(op, column->intermediate);
  for (std::size_t i = 0; i < steps.size(); ++i) (i < *end ? first : second).add(steps[i]);
  SplitFused out{first.finish(body), second.finish(body)};
  netlist::Op& narrow = out.column.op;
  narrow.name += ".column";
  narrow.out_format = op.intermed_format;
  narrow.block.mblock_n = narrow.block.ublock_ct = 1;
  narrow.grid.cols = 1;
  netlist::OpInput input;
  input.name = narrow.name;
  input.format = narrow.out_format;
  input.maps.tms = {Tm::broadcast(netlist::Dim::c, column->factor)};
  out.rest.op.inputs.push_back(std::move(input));
  return out;
}

}  // namespace buda::balance
