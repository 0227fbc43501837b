// SPDX-License-Identifier: Apache-2.0
// Ranges of constants and inputs, and the digits of single values.
#include <buda/passes/integers/wholes.hpp>

#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::passes {

using graph::Node;
using graph::NodeKind;
using graph::ValueRef;

IntegerRange Wholes::range(ValueRef value) const {
  if (auto known = ranges_.find(value); known != ranges_.end()) return known->second;
  const Node& n = graph_.node(value.node);
  const DType type = graph_.type(value)->dtype;
  IntegerRange range = range_of_type(type);
  if (const Tensor* tensor = value_of(graph_, value); tensor != nullptr && !is_float(type)) range = range_of_integers(*tensor);
  if (auto told = n.tags.find(kValueRange); n.kind() == NodeKind::input && told != n.tags.end())
    if (auto promised = parse_range(told->second)) range = intersection(range, *promised);
  ranges_[value] = range;
  return range;
}

const Digits* Wholes::digits(ValueRef value) const {
  const auto it = digits_.find(value);
  if (it == digits_.end()) return nullptr;
  // With an op that is replaced goes what only it read, as the high digit of what became a narrower type.
  const bool is_there = graph_.contains(it->second.high.node) && graph_.contains(it->second.low.node);
  return is_there ? &it->second : nullptr;
}

const EqualInteger* Wholes::equal(ValueRef number) const {
  const auto it = equals_.find(number);
  return it == equals_.end() ? nullptr : &it->second;
}

bool Wholes::comes_from_host(ValueRef value) const {
  const Node& n = graph_.node(value.node);
  return n.kind() == NodeKind::input || graph::on_host(n);
}

bool Wholes::can_split(ValueRef value, const IntegerRange& r) const {
  if (digits(value) != nullptr) return true;
  if (range(value).within(limits_.held())) return true;
  return r.within(limits_.whole()) && (value_of(graph_, value) != nullptr || comes_from_host(value));
}

Digits Wholes::split(ValueRef value, ops::Builder& builder) {
  if (const Digits* known = digits(value)) return *known;
  DigitBuilder d(builder, limits_.base);
  if (const Tensor* tensor = value_of(graph_, value)) return d.of_constant(*tensor);
  const IntegerRange r = range(value);
  // One number more than operands is cheaper to have from the host.
  const std::int64_t size = comes_from_host(value) ? limits_.operand : limits_.held();
  const Digits made = r.within(size) ? d.of_operand(value, r, graph_.type(value)->shape) : d.of_host_value(value);
  // The single value stays what others read where it is small enough.
  if (!r.within(limits_.operand)) note(value, made);
  return made;
}

}  // namespace buda::passes
