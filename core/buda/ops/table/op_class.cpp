// SPDX-License-Identifier: Apache-2.0
// The table of op classes, and what attributes make of its rows.
#include <buda/ops/table/op_class.hpp>

#include <algorithm>
#include <array>

namespace buda::ops {
namespace {

constexpr std::size_t kClasses = 0
#define BUDA_OP_CLASS(...) +1
#include <buda/ops/table/op_classes.def>
#undef BUDA_OP_CLASS
    ;
constexpr std::size_t kVariants = static_cast<std::size_t>(OpVariant::sub_op) + 1;

std::vector<OpClassInfo> plain_rows() {
  using enum OperandRole;
  return {
#define BUDA_OP_CLASS(name, ...) OpClassInfo{.op_class = OpClass::name, __VA_ARGS__},
#include <buda/ops/table/op_classes.def>
#undef BUDA_OP_CLASS
  };
}

OpClassInfo sparse_matmul(OpClassInfo row) {
  using enum OperandRole;
  row.operands = {{.role = sparse_tiles, .takes = Portion::matrix, .reserve = Reserve::none},
                  {.role = activations,
                   .scan = Scan::rows,
                   .takes = Portion::line,
                   .filled_by = Portion::line,
                   .preload = Preload::as_in_queue,
                   .transpose = Transpose::always,
                   .small_tiles = true},
                  {.role = index_tiles, .reserve = Reserve::none},
                  {.role = bias, .needs = Needs::bias},
                  {.role = scales, .needs = Needs::requant}};
  row.intermediates = Intermediates::always;
  row.passes = Passes::unknown;
  row.cost = CostVariant::sparse_products;
  return row;
}

// Steps of fused ops scan their operands the other way round.
OpClassInfo fused_matmul(OpClassInfo row) {
  using enum OperandRole;
  row.operands = {
      {.role = left, .scan = Scan::rows, .filled_by = Portion::block, .reserve = Reserve::reread_line, .preload = Preload::as_in_queue},
      {.role = right, .scan = Scan::columns, .filled_by = Portion::line, .reserve = Reserve::matrix, .preload = Preload::as_in_queue}};
  return row;
}

OpClassInfo reduce_over_z(OpClassInfo row) {
  row.operands = {{.role = OperandRole::reduced_z, .scan = Scan::rows, .preload = Preload::as_in_queue}};
  row.inner = false;
  row.intermediates = Intermediates::partial_z;
  row.cost = CostVariant::accumulation;
  return row;
}

using Variants = std::array<std::array<OpClassInfo, kVariants>, kClasses>;

Variants all_variants() {
  Variants out;
  for (const OpClassInfo& row : plain_rows()) out[static_cast<std::size_t>(row.op_class)].fill(row);
  auto change = [&](OpClass c, OpVariant v, OpClassInfo (*changed)(OpClassInfo)) {
    OpClassInfo& row = out[static_cast<std::size_t>(c)][static_cast<std::size_t>(v)];
    row = changed(row);
  };
  change(OpClass::matmul, OpVariant::sparse, sparse_matmul);
  change(OpClass::matmul, OpVariant::sub_op, fused_matmul);
  change(OpClass::reduce, OpVariant::over_z, reduce_over_z);
  return out;
}

}  // namespace

std::size_t OpClassInfo::min_inputs() const {
  return static_cast<std::size_t>(
      std::count_if(operands.begin(), operands.end(), [](const Operand& o) { return o.needs == Needs::nothing; }));
}

const OpClassInfo& class_info(OpClass op_class, OpVariant variant) {
  static const Variants table = all_variants();
  return table.at(static_cast<std::size_t>(op_class))[static_cast<std::size_t>(variant)];
}

}  // namespace buda::ops
