// Lowering of elementwise ops: nearly all have a device op of the same meaning, which the table of device ops names; what remains is
// bringing both inputs to one shape.
#include <buda/base/text.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/lower/lowering_rules.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::passes {
namespace {

using graph::AttrMap;
using graph::Edge;
using graph::Node;

AttrMap relu_attrs() { return {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}}; }
AttrMap capped_relu_attrs(double most) { return {{"relu_en", true}, {"relu_mode", std::string("max")}, {"relu_threshold", most}}; }

// ---- one input

Result<Lowered> unary(Lowering& l, const Node& n, std::string_view suffix, const std::string& op, const Lowered& given,
                      const AttrMap& attrs = {}) {
  BUDA_ASSIGN(Lowered x, l.harmless_for(n, op, attrs, given));
  Lowered out = after_unary(op, attrs, x);
  BUDA_ASSIGN(out.source, l.emit(n, suffix, op, {x.edge()}, attrs));
  l.mark_range(out);
  return out;
}

// To the device op of the same meaning.
Result<Lowered> lower_unary(Lowering& l, const Node& n) {
  const ops::DeviceOp& op = *ops::device_op_for(n.op());
  AttrMap attrs;
  for (const ops::OwnAttribute& own : op.attributes)
    if (!own.tensor_op_name.empty()) attrs.emplace(own.def.name, l.attrs(n).value(own.tensor_op_name, own.def.type));
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  return unary(l, n, "", std::string(op.name), x, attrs);
}

Result<Lowered> lower_buffer(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  return unary(l, n, "", "nop", x);
}

Result<Lowered> lower_nop(Lowering& l, const Node& n) { return l.value(n.inputs()[0]); }

// An element type with at least the whole numbers of another, as far as F32 can tell.
bool holds(DType wide, DType narrow) {
  if (narrow == DType::boolean || is_float(wide)) return true;
  if (is_float(narrow)) return false;
  bool same_sign = (wide == DType::i8 || wide == DType::i16 || wide == DType::i32 || wide == DType::i64) ||
                   !(narrow == DType::i8 || narrow == DType::i16 || narrow == DType::i32 || narrow == DType::i64);
  return same_sign && (dtype_size(wide) >= 4 || dtype_size(wide) > dtype_size(narrow) || wide == narrow);
}

// All element types are one on the device. A conversion to a narrower floating-point type is left to the format.
Result<Lowered> lower_cast(Lowering& l, const Node& n) {
  if (!holds(n.outputs[0].dtype, l.type(n.inputs()[0]).dtype))
    return l.refuse(n, "the device does not cut numbers down to the range of another type", "cast to a type that holds all of them");
  return l.value(n.inputs()[0]);
}

Result<Lowered> lower_relu(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  return unary(l, n, "", "nop", x, relu_attrs());
}

Result<Lowered> lower_gelu(Lowering& l, const Node& n) {
  if (l.attrs(n).text("approximate") != "none")
    return l.refuse(n, "the device's gelu is the exact one, and this is its approximation by tanh",
                    "use the decomposition 'gelu_tanh' (plugin nn), or export the model with the exact gelu");
  return lower_unary(l, n);
}

// ---- two inputs

Result<Lowered> binary(Lowering& l, const Node& n, std::string_view suffix, const std::string& op, Lowered a, Lowered b,
                       const AttrMap& attrs = {}) {
  // On some chips the matrix unit cannot transpose an operand of a binary op, and none can the second.
  if (!l.device().features.binary_transpose) {
    BUDA_ASSIGN(a, l.without_transpose(n, "copy", a));
  }
  BUDA_ASSIGN(b, l.without_transpose(n, "copy", b));
  Lowered out = after_binary(op, attrs, a, b);
  BUDA_ASSIGN(out.source, l.emit(n, suffix, op, {a.edge(), b.edge()}, attrs));
  l.mark_range(out);
  return out;
}

Result<Lowered> lower_binary(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Shape target, l.four(n, n.outputs[0].shape));
  BUDA_ASSIGN(Lowered a, l.stretched(n.inputs()[0], target, n));
  BUDA_ASSIGN(Lowered b, l.stretched(n.inputs()[1], target, n));
  if (a.shape[0] != target[0] && b.shape[0] != target[0])
    return l.refuse(n, "both inputs would have to be repeated along the first axis", "repeat one of them in the model");
  return binary(l, n, "", std::string(ops::device_op_for(n.op())->name), std::move(a), std::move(b));
}

// The node from which a value comes, seen through ops that do not change its numbers.
graph::NodeId origin_of(const graph::Graph& g, graph::ValueRef v) {
  while (is_reshape(g, g.node(v.node)) || g.node(v.node).op() == "broadcast") v = g.node(v.node).inputs()[0].source;
  return v.node;
}

// x - max(x), as a stable softmax begins. Where the maximum was taken of a masked copy of x, the same copy serves here, so that what is
// beyond the last column stays very negative and its exponential is 0. The difference is nowhere above 0, and 0 where the maximum is.
Result<Lowered> lower_subtract(Lowering& l, const Node& n) {
  auto masked = l.masked_for_max.find(n.inputs()[0].source);
  if (masked == l.masked_for_max.end() || origin_of(l.from(), n.inputs()[1].source) != masked->second.maximum) return lower_binary(l, n);
  BUDA_ASSIGN(Shape target, l.four(n, n.outputs[0].shape));
  BUDA_ASSIGN(Lowered most, l.stretched(n.inputs()[1], target, n));
  if (masked->second.x.shape != target || most.shape != target) return lower_binary(l, n);
  BUDA_ASSIGN(Lowered out, binary(l, n, "", "subtract", masked->second.x, std::move(most)));
  for (ValueRange* s : {&out.data, &out.rows, &out.cols, &out.corner}) s->most = std::min(s->most, 0.0);
  // A mask is at least twice as far below 0 as any maximum.
  if (masked->second.is_masked)
    for (ValueRange* s : {&out.cols, &out.corner}) s->most = std::min(s->most, ops::kVanishingExponent);
  out.peak = 0;
  return out;
}

Result<Lowered> scalar_like(Lowering& l, const Node& n, std::string_view suffix, double value, const Lowered& x) {
  constexpr std::size_t kTile = graph::kTileSide * graph::kTileSide;
  BUDA_ASSIGN(
      Lowered c,
      l.constant(n, suffix, Tensor(Shape{graph::kTileSide, graph::kTileSide}, std::vector<float>(kTile, static_cast<float>(value)))));
  std::int64_t z = x.shape[1], r = tiles(x.shape[2]), cs = tiles(x.shape[3]);
  if (z > 1) c.tms.push_back(graph::Tm::broadcast(graph::TmDim::z, z));
  if (r > 1) c.tms.push_back(graph::Tm::broadcast(graph::TmDim::r, r));
  if (cs > 1) c.tms.push_back(graph::Tm::broadcast(graph::TmDim::c, cs));
  c.shape = {1, x.shape[1], x.shape[2], x.shape[3]};
  c.rows = c.cols = c.corner = c.data;
  c.rows_alike = c.cols_alike = true;
  return c;
}

// Adding 1.5 * 2^23 leaves no room for digits behind the point, so that the sum is rounded to a whole number, ties to the even one; and
// then it is taken away again. Exact for |x| < 2^22 where sums are Float32; with other formats the device cannot do it this way. The sum
// keeps Float32 whatever the options say (tag `exact`). Chips whose matrix unit reads its operands with 10 bits of mantissa lose the sum on
// the way into the subtraction: on these rounding belongs on the host.
Result<Lowered> lower_round(Lowering& l, const Node& n) {
  if (!l.device().features.fp32_accumulate)
    return l.refuse(n, cat("device '", l.device().name, "' does not compute in Float32, which rounding needs"), "round on the host");
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  BUDA_ASSIGN(Lowered shift, scalar_like(l, n, "shift", 12582912, x));
  BUDA_ASSIGN(Lowered shifted, binary(l, n, "shifted", "add", x, shift));
  l.mark_exact(shifted);
  BUDA_ASSIGN(Lowered out, binary(l, n, "", "subtract", std::move(shifted), std::move(shift)));
  // Rounding moves a number by 1/2 at most; what the intervals of the two sums make of that is far too wide.
  auto near = [](const ValueRange& s) { return ValueRange{s.least - 0.5, s.most + 0.5, s.finite}; };
  out.data = near(x.data);
  out.rows = near(x.rows);
  out.cols = near(x.cols);
  out.corner = near(x.corner);
  return out;
}

Result<Lowered> lower_negative(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  BUDA_ASSIGN(Lowered minus, scalar_like(l, n, "minus_one", -1, x));
  return binary(l, n, "", "multiply", std::move(x), std::move(minus));
}

// A whole constant exponent has a device op; others are decomposed.
Result<Lowered> lower_power(Lowering& l, const Node& n) {
  auto exponent = l.uniform(n.inputs()[1]);
  if (!exponent || *exponent != std::trunc(*exponent) || std::abs(*exponent) > 64)
    return l.refuse(n, "the device raises to constant whole powers up to 64 only", "use the decomposition 'power' (plugin math)");
  if (n.outputs[0].shape.volume() != l.type(n.inputs()[0]).shape.volume())
    return l.refuse(n, "the exponent has more elements than the base", "give the exponent as a scalar in the model");
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  return unary(l, n, "", "power", x, {{"exp", static_cast<std::int64_t>(*exponent)}});
}

// Bounds are drawn by the packer's ReLU, which clamps to [0, t]: the value is moved there and back. A lower bound alone is a maximum.
Result<Lowered> lower_clip(Lowering& l, const Node& n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = l.attrs(n).real("min"), most = l.attrs(n).real("max");
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  if (std::isnan(least) || std::isnan(most) || least > most)
    return l.refuse(n, cat("its bounds are ", least, " and ", most), "give it a lower bound that is not above the upper one");
  if (least == -kInfinity && most == kInfinity) return x;
  if (least == 0) return unary(l, n, "", "nop", x, most == kInfinity ? relu_attrs() : capped_relu_attrs(most));
  if (most == kInfinity) {
    BUDA_ASSIGN(Lowered bound, scalar_like(l, n, "min", least, x));
    return binary(l, n, "", "maximum", std::move(x), std::move(bound));
  }
  if (least == -kInfinity) {  // max - relu(max - x)
    BUDA_ASSIGN(Lowered bound, scalar_like(l, n, "max", most, x));
    BUDA_ASSIGN(Lowered above, binary(l, n, "above", "subtract", bound, std::move(x), relu_attrs()));
    return binary(l, n, "", "subtract", std::move(bound), std::move(above));
  }
  BUDA_ASSIGN(Lowered bound, scalar_like(l, n, "min", least, x));
  BUDA_ASSIGN(Lowered moved, binary(l, n, "moved", "subtract", std::move(x), bound, capped_relu_attrs(most - least)));
  return binary(l, n, "", "add", std::move(moved), std::move(bound));
}

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
      else if (op.op_class == ops::OpClass::sfpu)
        all.push_back({op.tensor_op, lower_unary});
      else if (op.op_class == ops::OpClass::binary)
        all.push_back({op.tensor_op, lower_binary});
    return all;
  }();
  return rules;
}

}  // namespace buda::passes
