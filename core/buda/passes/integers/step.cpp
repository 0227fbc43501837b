// SPDX-License-Identifier: Apache-2.0
// Replacing an op of integers.
#include <buda/passes/integers/step.hpp>

#include <buda/graph/tags/placement.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/simplify/constant_value.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace buda::passes {

using graph::NodeKind;
using graph::ValueRef;

bool is_rounding(const graph::Node& n) { return n.op() == "floor" || n.op() == "ceil" || n.op() == "round"; }

bool is_elementwise(const graph::Node& n) {
  static constexpr std::string_view kFamilies[] = {"eltwise_binary", "eltwise_unary", "eltwise_math", "comparison"};
  const ops::OpDef* def = ops::standard_ops().find(graph::Level::tensor, n.op());
  return def != nullptr && std::find(std::begin(kFamilies), std::end(kFamilies), def->family) != std::end(kFamilies);
}

bool is_quantised(const graph::Node& n) {
  static constexpr std::string_view kOps[] = {"quantize",    "dequantize", "requantize", "round_float8",
                                              "int8_matmul", "to_int8",    "from_int8",  "int8_conv2d"};
  return std::find(std::begin(kOps), std::end(kOps), n.op()) != std::end(kOps);
}

IntegerStep::IntegerStep(graph::Graph& graph, graph::NodeId id, const ExactLimits& limits, Wholes& wholes)
    : graph_(graph), id_(id), limits_(limits), wholes_(wholes) {}

ops::Attrs IntegerStep::attrs() const { return {*ops::standard_ops().find(graph::Level::tensor, node().op()), node().attrs}; }

bool IntegerStep::is_spread(std::size_t i) const {
  if (!is_elementwise(node()) && node().op() != "remainder" && node().op() != "modulo") return false;
  const Shape &x = type(i).shape, &y = result().shape;
  if (y.rank() < 2 || y[y.rank() - 2] == 1) return false;
  return x.rank() < 2 || x[x.rank() - 2] == 1;
}

bool IntegerStep::is_known(std::size_t i) const { return value_of(graph_, node().inputs()[i]) != nullptr; }

EqualInteger IntegerStep::integer(std::size_t i) const {
  const Digits* digits = wholes_.digits(in(i));
  return {in(i), range(i), digits == nullptr ? std::nullopt : std::optional<Digits>(*digits)};
}

bool IntegerStep::ends_here() const {
  const auto users = graph_.users(id_);
  return std::all_of(users.begin(), users.end(), [&](const graph::Use& use) {
    const graph::Node& n = graph_.node(use.node);
    return n.kind() == NodeKind::output || graph::on_host(n) || (n.op() == "cast" && is_float(n.outputs[0].dtype));
  });
}

ValueRef converted(ops::Builder& b, ValueRef x, DType type) { return b.op("exact_cast", {x}, {{"dtype", std::string(dtype_name(type))}}); }

std::int64_t elements_of(const Shape& shape) { return shape.volume().value_or(std::numeric_limits<std::int64_t>::max()); }

Exactness IntegerStep::by_value(const IntegerRange& range, const std::function<ValueRef(ops::Builder&)>& make) {
  graph::GraphEditor editor(graph_, id_);
  ops::Builder builder(editor);
  const ValueRef made = make(builder);
  outcome_ = builder.status();
  if (!outcome_) return Exactness::rewritten;
  wholes_.note(made, range);
  editor.replace(id_, made);
  return Exactness::rewritten;
}

Exactness IntegerStep::by_digits(const IntegerRange& range, const std::function<Digits(ops::Builder&, DigitBuilder&)>& make) {
  graph::GraphEditor editor(graph_, id_);
  ops::Builder builder(editor);
  DigitBuilder digits(builder, limits_.base);
  const DType type = result().dtype;
  const Digits made = make(builder, digits);
  const bool small = range.within(limits_.operand);
  const ValueRef whole = small ? digits.on_device(made, range, type) : digits.on_host(made, type);
  outcome_ = builder.status();
  if (!outcome_) return Exactness::rewritten;
  wholes_.note(whole, range);
  if (!small) wholes_.note(whole, made);
  editor.replace(id_, whole);
  return Exactness::rewritten;
}

Number IntegerStep::number(std::size_t i, NumberBuilder& n) {
  if (type(i).dtype == DType::boolean) return n.single(n.digit_builder().as_number(in(i)), range(i));
  if (is_operand(i)) return n.single(converted(n.builder(), in(i), DType::i32), range(i));
  return n.of_digits(split(i, n.builder()), range(i));
}

Exactness IntegerStep::by_number(const IntegerRange& range, const std::function<Number(NumberBuilder&)>& make) {
  graph::GraphEditor editor(graph_, id_);
  ops::Builder builder(editor);
  NumberBuilder numbers(builder, limits_);
  const DType type = result().dtype;
  const Number made = make(numbers);
  const bool small = range.within(limits_.operand);
  ValueRef whole;
  if (!made.digits)
    whole = converted(builder, made.single, type);
  else
    whole = small ? numbers.digit_builder().on_device(*made.digits, range, type) : numbers.digit_builder().on_host(*made.digits, type);
  outcome_ = builder.status();
  if (!outcome_) return Exactness::rewritten;
  wholes_.note(whole, range);
  if (made.digits && !small) wholes_.note(whole, *made.digits);
  editor.replace(id_, whole);
  return Exactness::rewritten;
}

Exactness IntegerStep::by_pair(const IntegerRange& first, const IntegerRange& second,
                               const std::function<std::pair<Digits, ValueRef>(ops::Builder&, DigitBuilder&)>& make) {
  graph::GraphEditor editor(graph_, id_);
  ops::Builder builder(editor);
  DigitBuilder digits(builder, limits_.base);
  const DType type = result().dtype;
  const auto [values, places] = make(builder, digits);
  const ValueRef whole = digits.on_host(values, type);
  outcome_ = builder.status();
  if (!outcome_) return Exactness::rewritten;
  wholes_.note(whole, first);
  wholes_.note(whole, values);
  wholes_.note(places, second);
  graph_.replace_uses({id_, 0}, whole);
  graph_.replace_uses({id_, 1}, places);
  return Exactness::rewritten;
}

void IntegerStep::set_digits(std::size_t i, const std::function<Digits(ops::Builder&, DigitBuilder&)>& make) {
  graph::GraphEditor editor(graph_, id_);
  ops::Builder builder(editor);
  DigitBuilder digits(builder, limits_.base);
  const DType type = this->type(i).dtype;
  const Digits made = make(builder, digits);
  const ValueRef whole = digits.on_host(made, type);
  outcome_ = builder.status();
  if (!outcome_) return;
  wholes_.note(whole, made);
  graph_.set_input(id_, static_cast<std::uint32_t>(i), graph::Edge(whole));
}

void IntegerStep::swap_operands() {
  std::vector<graph::Edge> inputs = node().inputs();
  std::swap(inputs[0], inputs[1]);
  graph_.set_inputs(id_, std::move(inputs));
}

}  // namespace buda::passes
