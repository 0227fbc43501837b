// SPDX-License-Identifier: Apache-2.0
// Lowering of elementwise ops: nearly all have a device op of the same meaning, which the table of device ops names; what remains is
// bringing both inputs to one shape.
#include <buda/base/text.hpp>
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/broadcast.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/padding.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::passes {
namespace {

using graph::AttrMap;

AttrMap relu_attrs() { return {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}}; }
AttrMap capped_relu_attrs(double most) { return {{"relu_en", true}, {"relu_mode", std::string("max")}, {"relu_threshold", most}}; }

// ---- one input

Result<Lowered> unary(OpBuilder& out, std::string_view suffix, const std::string& op, const Lowered& given, const AttrMap& attrs = {}) {
  BUDA_ASSIGN(Lowered x, harmless_for(out, op, attrs, given));
  Lowered result = after_unary(op, attrs, x);
  BUDA_ASSIGN(result.source, out.op(suffix, op, {x.edge()}, attrs));
  out.mark_range(result);
  return result;
}

// To the device op of the same meaning.
RuleResult lower_unary(Operands& in, OpBuilder& out) {
  const ops::DeviceOp& op = *ops::device_op_for(out.node().op());
  AttrMap attrs;
  for (const ops::OwnAttribute& own : op.attributes)
    if (!own.tensor_op_name.empty())
      attrs.emplace(own.key, in.attrs().value(own.tensor_op_name, ops::find_device_attribute(own.key)->type));
  BUDA_ASSIGN(Lowered x, in.value(0));
  return unary(out, "", std::string(op.name), x, attrs);
}

RuleResult lower_buffer(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Lowered x, in.value(0));
  return unary(out, "", "nop", x);
}

RuleResult lower_nop(Operands& in, OpBuilder&) { return in.value(0); }

// An element type with at least the integers of another, as far as F32 can tell.
bool holds(DType wide, DType narrow) {
  if (narrow == DType::boolean || is_float(wide)) return true;
  if (is_float(narrow)) return false;
  bool same_sign = (wide == DType::i8 || wide == DType::i16 || wide == DType::i32 || wide == DType::i64) ||
                   !(narrow == DType::i8 || narrow == DType::i16 || narrow == DType::i32 || narrow == DType::i64);
  return same_sign && (dtype_size(wide) >= 4 || dtype_size(wide) > dtype_size(narrow) || wide == narrow);
}

// All element types are one on the device. A conversion to a narrower floating-point type is left to the format.
RuleResult lower_cast(Operands& in, OpBuilder& out) {
  if (!holds(in.result_type().dtype, in.type(0).dtype))
    return out.refuse("the device does not limit numbers to the range of another type", "cast to a type that holds all of them");
  return in.value(0);
}

RuleResult lower_relu(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Lowered x, in.value(0));
  return unary(out, "", "nop", x, relu_attrs());
}

RuleResult lower_gelu(Operands& in, OpBuilder& out) {
  if (in.attrs().text("approximate") != "none")
    return out.refuse("the device's gelu is the exact one, and this is its approximation by tanh",
                      "use the decomposition 'gelu_tanh' (plugin nn), or export the model with the exact gelu");
  return lower_unary(in, out);
}

// ---- two inputs

Result<Lowered> binary(OpBuilder& out, std::string_view suffix, const std::string& op, Lowered a, Lowered b, const AttrMap& attrs = {}) {
  // On some chips the matrix unit cannot transpose an operand of a binary op, and none can the second.
  if (!out.device().features.binary_transpose) {
    BUDA_ASSIGN(a, without_transpose(out, "copy", a));
  }
  BUDA_ASSIGN(b, without_transpose(out, "copy", b));
  Lowered result = after_binary(op, attrs, a, b);
  BUDA_ASSIGN(result.source, out.op(suffix, op, {a.edge(), b.edge()}, attrs));
  out.mark_range(result);
  return result;
}

RuleResult lower_binary(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Shape target, out.axes(in.result_type().shape));
  BUDA_ASSIGN(Lowered a, broadcast_operand(in, 0, target, out));
  BUDA_ASSIGN(Lowered b, broadcast_operand(in, 1, target, out));
  if (a.shape[0] != target[0] && b.shape[0] != target[0])
    return out.refuse("both inputs would have to be repeated along the first axis", "repeat one of them in the model");
  return binary(out, "", std::string(ops::device_op_for(out.node().op())->name), std::move(a), std::move(b));
}

// x - max(x), as a stable softmax begins. Where the maximum was taken of a masked copy of x, the same copy serves here, so that what is
// beyond the last column stays very negative and its exponential is 0. The difference is nowhere above 0, and 0 where the maximum is.
RuleResult lower_subtract(Operands& in, OpBuilder& out) {
  const MaximumArgument* argument = in.maximum_argument();
  if (argument == nullptr) return lower_binary(in, out);
  BUDA_ASSIGN(Shape target, out.axes(in.result_type().shape));
  BUDA_ASSIGN(Lowered most, broadcast_operand(in, 1, target, out));
  if (argument->x.shape != target || most.shape != target) return lower_binary(in, out);
  BUDA_ASSIGN(Lowered result, binary(out, "", "subtract", argument->x, std::move(most)));
  for (ValueRange* s : {&result.data, &result.rows, &result.cols, &result.corner}) s->most = std::min(s->most, 0.0);
  // A mask is at least twice as far below 0 as any maximum.
  if (argument->is_masked)
    for (ValueRange* s : {&result.cols, &result.corner}) s->most = std::min(s->most, ops::kVanishingExponent);
  result.peak = 0;
  return result;
}

Result<Lowered> scalar_like(OpBuilder& out, std::string_view suffix, double value, const Lowered& x) {
  constexpr std::size_t kTile = graph::kTileSide * graph::kTileSide;
  BUDA_ASSIGN(Lowered c, out.constant(suffix, Tensor(Shape{graph::kTileSide, graph::kTileSide},
                                                     std::vector<float>(kTile, static_cast<float>(value)))));
  add_broadcast(c, graph::TmDim::z, x.shape[1]);
  add_broadcast(c, graph::TmDim::r, tiles(x.shape[2]));
  add_broadcast(c, graph::TmDim::c, tiles(x.shape[3]));
  c.shape = {1, x.shape[1], x.shape[2], x.shape[3]};
  c.rows = c.cols = c.corner = c.data;
  c.rows_alike = c.cols_alike = true;
  return c;
}

// A sum with 1.5 * 2^23 would leave no digits after the point, but the matrix unit reads 10 bits of its operands' mantissas: what is then
// taken away from the sum is not what was added. The vector unit's functions do not round.
RuleResult lower_round(Operands&, OpBuilder& out) {
  return out.refuse("chips read 10 bits of an operand's mantissa, too few for sums that round to integers",
                    "--enable-cpu-fallback runs it on the host");
}

Result<Lowered> negated(OpBuilder& out, std::string_view suffix, Lowered x, const AttrMap& attrs = {}) {
  BUDA_ASSIGN(Lowered minus, scalar_like(out, "minus_one", -1, x));
  return binary(out, suffix, "multiply", std::move(x), std::move(minus), attrs);
}

RuleResult lower_negative(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Lowered x, in.value(0));
  return negated(out, "", std::move(x));
}

// An integer constant exponent has a device op; others are decomposed.
RuleResult lower_power(Operands& in, OpBuilder& out) {
  auto exponent = in.uniform(1);
  if (!exponent || *exponent != std::trunc(*exponent) || std::abs(*exponent) > 64)
    return out.refuse(
        "the device raises to constant integer powers up to 64 only",
        "decompositions of plugin math do others where the base is never negative (--value-range BASE=0:1000 promises that of an "
        "input), and integers in -16:16 as exponents (--value-range EXPONENT=-16:16)");
  if (in.result_type().shape.volume() != in.type(0).shape.volume())
    return out.refuse("the exponent has more elements than the base", "give the exponent as a scalar in the model");
  BUDA_ASSIGN(Lowered x, in.value(0));
  return unary(out, "", "power", x, {{"exp", static_cast<std::int64_t>(*exponent)}});
}

// The packer's ReLU clamps to [0, t]. A bound on the other side of 0 bounds what is below 0 with its sign changed, and of both parts one is
// 0: nothing is ever added to a number that is between the bounds, which would lose it beside a bound that is far away.
Result<Lowered> lower_clip_about_zero(OpBuilder& out, const Lowered& x, double least, double most) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  BUDA_ASSIGN(Lowered below, negated(out, "below", x, least == -kInfinity ? relu_attrs() : capped_relu_attrs(-least)));
  if (most == 0) return negated(out, "", std::move(below));
  BUDA_ASSIGN(Lowered above, unary(out, "above", "nop", x, capped_relu_attrs(most)));
  return binary(out, "", "subtract", std::move(above), std::move(below));
}

RuleResult lower_clip(Operands& in, OpBuilder& out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = in.attrs().real("min"), most = in.attrs().real("max");
  BUDA_ASSIGN(Lowered x, in.value(0));
  if (std::isnan(least) || std::isnan(most) || least > most)
    return out.refuse(cat("its bounds are ", least, " and ", most), "give it a lower bound that is not above the upper one");
  if (least == -kInfinity && most == kInfinity) return x;
  if (least == 0) return unary(out, "", "nop", x, most == kInfinity ? relu_attrs() : capped_relu_attrs(most));
  if (most == kInfinity) {
    BUDA_ASSIGN(Lowered bound, scalar_like(out, "min", least, x));
    return binary(out, "", "maximum", std::move(x), std::move(bound));
  }
  if (least < 0 && most >= 0) return lower_clip_about_zero(out, x, least, most);
  const bool positive = least > 0;
  BUDA_ASSIGN(Lowered bound, scalar_like(out, positive ? "min" : "max", positive ? least : -most, x));
  if (positive) {
    BUDA_ASSIGN(Lowered below, unary(out, "below", "nop", x, capped_relu_attrs(most)));
    return binary(out, "", "maximum", std::move(below), std::move(bound));
  }
  BUDA_ASSIGN(Lowered size, negated(out, "size", std::move(x), least == -kInfinity ? relu_attrs() : capped_relu_attrs(-least)));
  BUDA_ASSIGN(Lowered bounded, binary(out, "bounded", "maximum", std::move(size), std::move(bound)));
  return negated(out, "", std::move(bounded));
}

// Left to the edges of its users.
RuleResult lower_broadcast(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Shape wanted, out.axes(in.result_type().shape));
  BUDA_ASSIGN(Lowered x, broadcast_operand(in, 0, wanted, out));
  if (x.shape == wanted) return x;
  return out.refuse("it repeats a value along the first axis, the batch, whose elements the device processes one after the other",
                    "repeat the value along one of the last three axes");
}

// ---- to Int8 and back

Result<Lowered> scaled_by(Operands& in, OpBuilder& out, const std::string& op, ValueRange range) {
  BUDA_ASSIGN(Lowered x, in.value(0));
  BUDA_ASSIGN(x, without_transpose(out, "copy", x));
  BUDA_ASSIGN(Lowered scale, scalar_like(out, "scale", in.attrs().real("scale"), x));
  Lowered result = x;
  result.tms.clear();
  result.data = result.rows = result.cols = result.corner = range;
  result.rows_alike = result.cols_alike = result.far_padding = false;
  result.zero_cols = 0;
  result.peak.reset();
  BUDA_ASSIGN(result.source, out.op("", op, {x.edge(), scale.edge()}, {{"zero_point", in.attrs().real("zero_point")}}));
  return result;
}

RuleResult lower_to_int8(Operands& in, OpBuilder& out) {
  if (!multiplies_int8(out.device())) return out.refuse(cat("device '", out.device().name, "' has no Int8"), "");
  return scaled_by(in, out, "quantization", kInt8Range);
}

RuleResult lower_from_int8(Operands& in, OpBuilder& out) { return scaled_by(in, out, "dequantization", ValueRange::unknown()); }

std::vector<LoweringRule> special_rules() {
  return {
      {"subtract", lower_subtract},
      {"buffer", lower_buffer},
      {"nop", lower_nop, false, true},
      {"relu", lower_relu},
      {"gelu", lower_gelu},
      {"clip", lower_clip},
      {"negative", lower_negative},
      {"power", lower_power},
      {"round", lower_round},
      {"cast", lower_cast, false, true},
      {"exact_cast", lower_nop, false, true},
      {"broadcast", lower_broadcast, false, true},
      {"to_int8", lower_to_int8},
      {"from_int8", lower_from_int8},
  };
}

}  // namespace

// What is special comes before what the table of device ops says: find_lowering_rule takes the first rule of an op.
const std::vector<LoweringRule>& eltwise_rules() {
  static const std::vector<LoweringRule> rules = [] {
    std::vector<LoweringRule> all = special_rules();
    for (const ops::DeviceOp& op : ops::device_ops())
      if (op.tensor_op.empty())
        continue;
      else if (ops::is_function_of_one(op.type))
        all.push_back({op.tensor_op, lower_unary});
      else if (ops::combines_two(op.type))
        all.push_back({op.tensor_op, lower_binary});
    return all;
  }();
  return rules;
}

}  // namespace buda::passes
