// SPDX-License-Identifier: Apache-2.0
// Comparison of ops without their names.
#include <buda/balance/models/alike.hpp>

#include <buda/balance/problem/selection.hpp>
#include <buda/base/hash.hpp>

#include <algorithm>
#include <cstdint>
#include <map>

namespace buda::balance {
namespace {

netlist::Op without_names(netlist::Op op) {
  op.name.clear();
  for (netlist::OpInput& input : op.inputs) input.name.clear();
  return op;
}

netlist::FusedOp without_names(netlist::FusedOp fused) {
  fused.id.clear();
  for (auto& schedule : fused.schedules)
    for (netlist::SubOp& sub : schedule) sub.name.clear();
  return fused;
}

bool same_schedules(const std::shared_ptr<const netlist::FusedOp>& a, const std::shared_ptr<const netlist::FusedOp>& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return without_names(*a) == without_names(*b);
}

bool same_selection(const std::shared_ptr<const SelectionMatrix>& a, const std::shared_ptr<const SelectionMatrix>& b) {
  if (a == b || a == nullptr || b == nullptr) return a == b;
  return *a == *b;
}

bool same_operand(const Operand& a, const Operand& b) {
  return a.shape == b.shape && a.constant == b.constant && a.queued == b.queued && a.buffered_inputs == b.buffered_inputs &&
         a.from.op.valid() == b.from.op.valid();
}

bool are_alike(const OpSpec& a, const OpSpec& b) {
  return a.out == b.out && a.splice == b.splice && a.inner == b.inner && a.outputs == b.outputs && a.depth == b.depth &&
         a.feeds_queued == b.feeds_queued && a.l1_acc == b.l1_acc && a.feeds_loopback == b.feeds_loopback &&
         a.users.empty() == b.users.empty() &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(), same_operand) &&
         same_schedules(a.fused, b.fused) && same_selection(a.selection, b.selection) && without_names(a.op) == without_names(b.op);
}

// Equal for ops that are alike, and different for most that are not.
std::uint64_t fingerprint(const OpSpec& spec) {
  Fnv1a hash;
  auto add = [&hash](std::int64_t number) { hash.add(static_cast<std::uint64_t>(number)); };
  auto add_shape = [&](const netlist::TileShape& shape) {
    for (std::int64_t size : {shape.t, shape.rt, shape.ct}) add(size);
  };
  add(static_cast<std::int64_t>(spec.op.type));
  add_shape(spec.out);
  add(spec.inner);
  for (const Operand& operand : spec.operands) add_shape(operand.shape);
  if (spec.selection) add(static_cast<std::int64_t>(spec.selection->products.size()));
  if (spec.fused)
    for (const auto& schedule : spec.fused->schedules)
      for (const netlist::SubOp& sub : schedule) add(static_cast<std::int64_t>(sub.type));
  return hash.value();
}

}  // namespace

std::vector<std::size_t> first_alike(const Problem& problem) {
  std::map<std::uint64_t, std::vector<std::size_t>> firsts;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    auto& known = firsts[fingerprint(problem.ops[i])];
    auto same = std::find_if(known.begin(), known.end(), [&](std::size_t first) { return are_alike(problem.ops[first], problem.ops[i]); });
    if (same == known.end()) same = known.insert(known.end(), i);
    out.push_back(*same);
  }
  return out;
}

}  // namespace buda::balance
