// SPDX-License-Identifier: Apache-2.0
// By formats and op classes.
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/ops/table/op_traits.hpp>

namespace buda::balance {
namespace {

bool adds(DataFormat partial, DataFormat accumulated) {
  if (accumulated == DataFormat::float32) return partial == DataFormat::float32;
  return accumulated != DataFormat::int32 && (partial == DataFormat::float32 || partial == DataFormat::float16_b);
}

bool may_add_in_l1(const OpSpec& spec) {
  const bool sums = ops::sums_products(spec.op.type);
  // What follows the sum is done to the last block as it leaves the destination register.
  const bool followed = spec.op.attributes.relu.enabled || spec.op.attributes.requant || spec.op.attributes.dequant;
  return sums && !followed && adds(spec.op.intermed_format, spec.op.acc_format);
}

}  // namespace

void allow_l1_accumulation(Problem& problem) {
  if (!problem.device->features.l1_accumulate) return;
  for (OpSpec& spec : problem.ops) spec.l1_acc = may_add_in_l1(spec);
}

void widen_sums(OpSpec& op, DataFormat partial, bool l1_accumulation) {
  op.op.acc_format = DataFormat::float32;
  op.op.intermed_format = partial;
  op.l1_acc = l1_accumulation && may_add_in_l1(op);
}

std::int32_t least_blocks_in_l1(const netlist::Op& op) { return op.intermed_format == op.out_format ? 2 : 3; }

}  // namespace buda::balance
