// SPDX-License-Identifier: Apache-2.0
// Formulas: terms, and the decomposition that puts one in the place of a node.
#include <buda/plugin/rule.hpp>

#include <buda/graph/editor.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace buda::plugin {
namespace {

constexpr double kAmplified = 0x1p127;  // makes at least 2 of the smallest number

ops::Attrs attributes(const std::string& op, const graph::AttrMap& attrs) {
  return {*ops::standard_ops().find(graph::Level::tensor, op), attrs};
}

// F64 where the first floating-point input or, without one, the result is.
DType compute_type_of(const graph::Graph& graph, const graph::Node& node) {
  for (const auto& edge : node.inputs()) {
    DType t = graph.type(edge.source)->dtype;
    if (is_float(t)) return t == DType::f64 ? DType::f64 : DType::f32;
  }
  return node.outputs[0].dtype == DType::f64 ? DType::f64 : DType::f32;
}

bool compares_whole_numbers(const graph::Graph& graph, const graph::Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const graph::Edge& e) {
    DType t = graph.type(e.source)->dtype;
    return is_integer(t) && dtype_size(t) > 1;
  });
}

Term binary(std::string_view op, const Term& a, const Term& b) { return a.rewrite->op(op, {a, b}); }
Term unary(std::string_view op, const Term& x) { return x.rewrite->op(op, {x}); }

class FormulaRule final : public passes::Decomposition {
 public:
  explicit FormulaRule(RuleSpec spec) : spec_(std::move(spec)) {
    for (const char* conversion : {"cast", "exact_cast"}) spec_.produces.emplace_back(conversion);
  }
  std::vector<std::string> consumes() const override { return spec_.consumes; }
  std::vector<std::string> produces() const override { return spec_.produces; }

  int priority() const override { return spec_.priority; }

  bool matches(const graph::Graph& graph, const graph::Node& node) const override {
    bool floats = std::all_of(node.inputs().begin(), node.inputs().end(),
                              [&](const graph::Edge& e) { return is_float(graph.type(e.source)->dtype); });
    if (spec_.takes == Takes::floats && !floats) return false;
    return spec_.matches == nullptr || spec_.matches(graph, node);
  }

  Result<void> rewrite(graph::GraphEditor& editor, graph::NodeId id) override {
    Rewrite r(editor, id);
    return r.finish(spec_.build(r));
  }

  std::vector<std::string> differentiates() const override {
    return spec_.gradient == nullptr ? std::vector<std::string>() : spec_.consumes;
  }

  Result<std::vector<graph::ValueRef>> gradient(graph::GraphEditor& editor, graph::NodeId id,
                                                const std::vector<graph::ValueRef>& incoming) override {
    Rewrite r(editor, id);
    std::vector<Term> given;
    for (const graph::ValueRef& value : incoming)
      given.push_back(value.valid() ? r.exactly({&r, graph::Edge(value)}, r.compute_type()) : Term());
    std::vector<graph::ValueRef> out;
    for (const Term& t : spec_.gradient(r, given)) {
      const bool is_none = t.rewrite == nullptr || !t.edge.source.valid() || out.size() >= r.count();
      out.push_back(is_none ? graph::ValueRef() : r.exactly(t, r.type(out.size()).dtype).edge.source);
    }
    BUDA_TRY(r.status());
    return out;
  }

 private:
  RuleSpec spec_;
};

}  // namespace

Rewrite::Rewrite(graph::GraphEditor& editor, graph::NodeId id) : editor_(editor), id_(id), builder_(editor) {
  const graph::Node& n = editor.graph().node(id);
  op_ = n.op();
  attrs_ = n.attrs;
  inputs_ = n.inputs();
  result_ = n.outputs[0];
  compute_ = compute_type_of(editor.graph(), n);
  exact_ = is_integer(result_.dtype) || (result_.dtype == DType::boolean && compares_whole_numbers(editor.graph(), n));
}

Term Rewrite::noted(graph::ValueRef made) {
  if (exact_ && made.valid()) builder_.node(made).tags[passes::kExact] = "";
  return {this, made};
}

const graph::Graph& Rewrite::graph() const { return editor_.graph(); }
const graph::ValueType& Rewrite::type(std::size_t input) const { return *graph().type(inputs_[input].source); }

ops::Attrs Rewrite::attrs() const { return attributes(op_, attrs_); }

std::int64_t Rewrite::axis(std::string_view attr) const {
  std::int64_t dim = integer(attr);
  return dim < 0 ? dim + static_cast<std::int64_t>(type(0).shape.rank()) : dim;
}

Term Rewrite::in(std::size_t input) {
  DType t = type(input).dtype;
  if (t == compute_) return raw(input);
  return op("cast", {raw(input)}, {{"dtype", std::string(dtype_name(compute_))}});
}

Term Rewrite::result_of(std::uint32_t port) { return exactly({this, graph::Edge(graph::ValueRef(id_, port))}, compute_); }

Term Rewrite::constant_as_is(const Tensor& tensor) { return noted(builder_.constant(tensor)); }
Term Rewrite::number(double value) { return constant(Tensor::scalar(value)); }

Term Rewrite::constant(const Tensor& tensor) { return noted(builder_.constant(tensor.cast(compute_))); }

Term Rewrite::op(std::string_view name, const std::vector<Term>& terms, graph::AttrMap attrs) {
  std::vector<graph::Edge> edges;
  for (const Term& t : terms) edges.push_back(t.edge);
  return noted(builder_.op(name, std::move(edges), std::move(attrs)));
}

Term Rewrite::exactly(const Term& x, DType wanted) {
  if (!x.edge.source.valid() || dtype(x) == wanted) return x;
  return op(is_float(wanted) ? "cast" : "exact_cast", {x}, {{"dtype", std::string(dtype_name(wanted))}});
}

Shape Rewrite::shape(const Term& x) const {
  const graph::ValueType* type = graph().type(x.edge.source);
  return type == nullptr ? Shape{} : type->shape;
}

DType Rewrite::dtype(const Term& x) const {
  const graph::ValueType* type = graph().type(x.edge.source);
  return type == nullptr ? compute_ : type->dtype;
}

Result<void> Rewrite::finish(const Term& y) {
  Term converted = exactly(y, result_.dtype);
  BUDA_TRY(builder_.status());
  editor_.replace(id_, converted.edge.source);
  return success();
}

Result<void> Rewrite::finish_with(const std::vector<Term>& results) {
  BUDA_TRY(builder_.status());
  graph::Graph& graph = editor_.graph();
  std::string name = graph.node(id_).name();
  for (std::uint32_t port = 0; port < results.size(); ++port) graph.replace_uses({id_, port}, results[port].edge.source);
  editor_.erase_unused(id_);
  if (!graph.contains(id_)) graph.rename(results[0].edge.source.node, std::move(name));
  return success();
}

Term operator+(const Term& a, const Term& b) { return binary("add", a, b); }
Term operator-(const Term& a, const Term& b) { return binary("subtract", a, b); }
Term operator*(const Term& a, const Term& b) { return binary("multiply", a, b); }
Term operator+(const Term& a, double b) { return a + a.rewrite->number(b); }
Term operator-(const Term& a, double b) { return a - a.rewrite->number(b); }
Term operator*(const Term& a, double b) { return a * a.rewrite->number(b); }
Term operator+(double a, const Term& b) { return b + a; }
Term operator-(double a, const Term& b) { return b.rewrite->number(a) - b; }
Term operator*(double a, const Term& b) { return b * a; }
Term operator-(const Term& a) { return unary("negative", a); }
Term maximum(const Term& a, const Term& b) { return binary("maximum", a, b); }
Term exp(const Term& x) { return unary("exp", x); }
Term log(const Term& x) { return unary("log", x); }
Term sqrt(const Term& x) { return unary("sqrt", x); }
Term square(const Term& x) { return unary("square", x); }
Term reciprocal(const Term& x) { return unary("reciprocal", x); }
Term abs(const Term& x) { return unary("abs", x); }
Term relu(const Term& x) { return unary("relu", x); }
Term sigmoid(const Term& x) { return unary("sigmoid", x); }
Term tanh(const Term& x) { return unary("tanh", x); }
Term round(const Term& x) { return unary("round", x); }
Term clip(const Term& x, double least, double most) { return x.rewrite->op("clip", {x}, {{"min", least}, {"max", most}}); }
Term reduce(std::string_view op, const Term& x, std::vector<std::int64_t> dims) {
  return x.rewrite->op(op, {x}, {{"dims", std::move(dims)}, {"keep_dims", true}});
}

Term masked(const Term& x, const Term& mask) { return x.rewrite->op("multiply", {x, mask}, {{"masks", true}}); }
Term difference(const Term& a, const Term& b) { return a.rewrite->op("subtract", {a, b}, {{"orders", true}}); }

// 1 of what is above 0. Limited before it is amplified: of a product that is too large by more than 2^30 the matrix unit's second phase
// leaves nothing.
static Term is_positive(const Term& x) { return clip(clip(x, 0, 1) * kAmplified, 0, 1); }

Term above(const Term& a, const Term& b) { return is_positive(difference(a, b)); }
Term above(const Term& a, double b) { return b == 0 ? is_positive(a) : above(a, a.rewrite->number(b)); }
Term above(double a, const Term& b) { return a == 0 ? is_positive(b * -1) : above(b.rewrite->number(a), b); }
Term not_zero(const Term& x) { return is_positive(abs(x)); }
Term sign_of(const Term& x) {
  Term positive = is_positive(x);
  return positive - is_positive(x * -1);
}
Term nan_excess(const Term& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Term over = difference(x, x.rewrite->number(kInfinity));
  Term under = difference(x.rewrite->number(-kInfinity), x);
  return maximum(over, under);
}
Term is_number(const Term& x) { return clip(1 - nan_excess(x), 0, 1); }

bool may_hold_nan(const graph::Graph& graph, const graph::Edge& value) {
  static constexpr std::array<std::string_view, 7> kMovements = {"reshape", "transpose", "slice", "broadcast", "pad", "nop", "buffer"};
  if (!is_float(graph.type(value.source)->dtype)) return false;
  const graph::Node& n = graph.node(value.source.node);
  if (const Tensor* known = passes::value_of(graph, value)) {
    const std::vector<float> numbers = known->to_f32();
    return std::any_of(numbers.begin(), numbers.end(), [](float v) { return std::isnan(v); });
  }
  if (!n.is_op()) return n.op() == graph::kInputOp;
  const bool moves = std::find(kMovements.begin(), kMovements.end(), n.op()) != kMovements.end();
  return moves && may_hold_nan(graph, n.inputs()[0]);
}

Term floor_of(const Term& x) {
  Term nearest = round(x);
  return nearest - above(nearest, x);
}

namespace {

// A number as a sum of two with half the digits each, whose products are exact (Dekker, 1971).
struct Halves {
  Term high, low;
};

Halves halves_of(const Term& x) {
  Term scaled = x * 4097;
  Term rest = scaled - x;
  Term high = scaled - rest;
  return {high, x - high};
}

}  // namespace

Term exact_quotient(const Term& a, const Term& b) {
  Term inverse = reciprocal(b);
  Term quotient = a * inverse;
  Halves q = halves_of(quotient), d = halves_of(b);
  Term rest = a - q.high * d.high;
  rest = rest - q.high * d.low;
  rest = rest - q.low * d.high;
  rest = rest - q.low * d.low;
  return quotient + rest * inverse;
}

Entry<passes::Decomposition> rule(RuleSpec spec) {
  std::string name = spec.name, summary = spec.summary;
  return {.name = std::move(name),
          .summary = std::move(summary),
          .options = {},
          .make = [spec = std::move(spec)](const schema::OptionValues&, Host&) {
            return Result<std::unique_ptr<passes::Decomposition>>(std::make_unique<FormulaRule>(spec));
          }};
}

}  // namespace buda::plugin
