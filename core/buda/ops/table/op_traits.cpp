// SPDX-License-Identifier: Apache-2.0
// Answers from the columns of op classes.
#include <buda/ops/table/op_traits.hpp>

namespace buda::ops {
namespace {

const OpClassInfo& info(OpType type) { return class_info(op_class(type)); }
OperandRole first_role(OpType type) { return info(type).operand(0).role; }

}  // namespace

bool multiplies_matrices(OpType type) { return first_role(type) == OperandRole::left; }
bool sums_products(OpType type) { return multiplies_matrices(type) || first_role(type) == OperandRole::depthwise_left; }
bool looks_up_rows(OpType type) { return first_role(type) == OperandRole::table; }
bool is_row_number(OpType type, std::size_t input) { return info(type).operand(input).role == OperandRole::row_numbers; }
bool reads_datums(OpType type) { return looks_up_rows(type) || first_role(type) == OperandRole::rows; }
bool splices(OpType type) { return first_role(type) == OperandRole::spliced; }
bool is_quantization(OpType type) { return info(type).operands.size() == 2 && info(type).operand(1).role == OperandRole::scales; }
bool is_copy_of_tiles(OpType type) { return info(type).elementwise && info(type).copies; }
bool is_function_of_one(OpType type) { return info(type).elementwise && info(type).operands.size() == 1 && !info(type).copies; }
bool combines_two(OpType type) { return info(type).elementwise && info(type).operands.size() == 2; }
bool sorts(OpType type) { return first_role(type) == OperandRole::sorted; }
bool is_fused(OpType type) { return first_role(type) == OperandRole::fused; }
bool runs_on_ethernet(OpType type) { return info(type).on_ethernet; }
bool has_output(OpType type) { return info(type).has_output; }

}  // namespace buda::ops
