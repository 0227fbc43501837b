// SPDX-License-Identifier: Apache-2.0
// Signs of values, by the ops that compute them.
#include <buda/passes/formats/value_signs.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/tile_count.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/formats/constant_signs.hpp>
#include <buda/passes/formats/format_facts.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Node;
using graph::Tm;
using graph::TmKind;
using ops::ValueRange;

std::int64_t integer_attr(const Node& n, std::string_view name, std::int64_t otherwise) {
  auto it = n.attrs.find(std::string(name));
  const auto* value = it == n.attrs.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return value == nullptr ? otherwise : *value;
}

bool flag(const Node& n, std::string_view name) {
  auto it = n.attrs.find(std::string(name));
  const auto* value = it == n.attrs.end() ? nullptr : std::get_if<bool>(&it->second);
  return value != nullptr && *value;
}

bool sums_products(const Node& n) { return n.op() == "matmul" || n.op() == "depthwise"; }

// Odd functions keep signs apart; so do copies.
bool keeps_signs(const Node& n) {
  static constexpr std::array kOps = {"tanh", "sine", "dropout", "reciprocal", "tilizer", "ethernet_datacopy"};
  return is_copy(n) || std::find(kOps.begin(), kOps.end(), n.op()) != kOps.end();
}

bool is_one_sided(const ValueRange& r) { return r.least >= 0 || r.most <= 0; }

bool is_transposed(const Edge& edge) {
  return std::count_if(edge.tms.begin(), edge.tms.end(), [](const Tm& tm) { return tm.kind == TmKind::transpose; }) % 2 != 0;
}

// A constant operand as it is contracted along its rows or columns; nothing for others.
std::optional<LineSigns> constant_lines(const graph::Graph& graph, const Node& n, std::size_t input, bool along_columns) {
  const Edge& edge = n.inputs()[input];
  const Node& source = graph.node(edge.source.node);
  if (!source.has_value() || !source.value || !is_float(source.value->tensor.dtype())) return std::nullopt;
  return lines_of(source.value->tensor, along_columns != is_transposed(edge));
}

// Whether the factors of an elementwise product have nothing to do with each other: x * sigmoid(x) is mostly positive for x of both signs.
// One of them is known or one for many places.
bool has_independent_factors(const graph::Graph& graph, const Node& n) {
  return std::any_of(n.inputs().begin(), n.inputs().end(), [&](const Edge& edge) {
    const bool is_repeated = std::any_of(edge.tms.begin(), edge.tms.end(), [](const Tm& tm) { return tm.kind == TmKind::broadcast; });
    return is_repeated || graph.node(edge.source.node).has_value();
  });
}

// Whether this is x - mean(x), of each row (column): the mean as a product with equal factors that add up to 1.
bool subtracts_mean(const graph::Graph& graph, const Node& n, bool of_rows) {
  if (n.op() != "subtract") return false;
  const Edge &x = n.inputs()[0], &mean = n.inputs()[1];
  const Node& sum = graph.node(mean.source.node);
  const bool repeats = std::all_of(mean.tms.begin(), mean.tms.end(), [&](const Tm& tm) {
    return tm.kind == TmKind::broadcast && tm.dim == (of_rows ? graph::TmDim::c : graph::TmDim::r);
  });
  if (!x.tms.empty() || !repeats || sum.op() != "matmul" || sum.inputs().size() != 2 || ops::is_sparse_product(sum)) return false;
  const Edge &of = sum.inputs()[of_rows ? 0 : 1], &factors = sum.inputs()[of_rows ? 1 : 0];
  const Node& constant = graph.node(factors.source.node);
  if (of != x || !constant.has_value() || !constant.value || constant.value->tensor.shape().rank() != 2) return false;
  const auto factor = only_factor(constant.value->tensor);
  // A factor of 16 bits is up to 0.4 % off.
  constexpr double kRounded = 0.01;
  const graph::TmDim inner = of_rows ? graph::TmDim::r : graph::TmDim::c;
  std::int64_t terms = constant.value->tensor.shape()[of_rows ? 0 : 1];
  for (const Tm& tm : factors.tms)
    if (tm.kind == TmKind::broadcast && tm.dim == inner) terms *= tm.factor;
  return factor && std::abs(static_cast<double>(*factor) * static_cast<double>(terms) - 1) < kRounded;
}

// The two operands of a product as a sum sees them.
struct Operand {
  double coherence = 1;
  double density = 1;
  bool low_bits = true;
};

}  // namespace

ValueSigns::ValueSigns(const graph::Graph& graph, const std::vector<graph::NodeId>& order)
    : graph_(graph), coherence_(graph.id_bound(), {1.0, 1.0, 1.0}), range_(graph.id_bound(), ValueRange::unknown()) {
  for (graph::NodeId id : order) {
    const Node& n = graph.node(id);
    if (n.outputs.empty()) continue;
    if (n.has_value()) {
      if (!n.value || !is_float(n.value->tensor.dtype())) continue;
      const NumberSigns signs = signs_of(n.value->tensor);
      coherence_[id.index()].fill(signs.coherence);
      range_[id.index()] = signs.range;
    } else if (computes(n)) {
      range_[id.index()] = result_range(n);
      if (is_one_sided(range_[id.index()])) continue;
      for (Lines lines : {any, rows, columns}) coherence_[id.index()][lines] = result_coherence(n, lines);
    } else if (n.op() == graph::kToDevice) {
      coherence_[id.index()][rows] = coherence_of_gathered(n);
    }
  }
}

ValueRange ValueSigns::result_range(const Node& n) const {
  auto in = [&](std::size_t i) { return range_[n.inputs()[i].source.node.index()]; };
  ValueRange r = ValueRange::unknown();
  if (sums_products(n)) {
    const std::size_t data = ops::is_sparse_product(n) ? 1 : 0;
    const ValueRange a = in(data), b = data == 1 ? n.inputs().size() > 2 ? in(2) : ValueRange::exactly(1) : in(1);
    const ValueRange term = ops::range_after("multiply", {}, a, b);
    const bool adds_more = n.op() == "matmul" && flag(n, "bias");
    if (!adds_more && term.least >= 0) r.least = 0;
    if (!adds_more && term.most <= 0) r.most = 0;
  } else if (n.op() == "reduce" || n.op() == "splice" || is_tilizer(n)) {
    // Padding and places without a number are zeros.
    r = ValueRange::exactly(0);
    for (std::size_t i = 0; i < n.inputs().size(); ++i) r = hull(r, in(i));
  } else if (n.op() == "multiply" && n.inputs()[0].source == n.inputs()[1].source) {
    r.least = 0;
  } else if (n.inputs().size() == 1) {
    r = ops::range_after(n.op(), n.attrs, in(0));
  } else if (n.inputs().size() == 2) {
    r = ops::range_after(n.op(), n.attrs, in(0), in(1));
  }
  return after_relu(n.attrs, r);
}

// As an edge brings it. Slices cut lines, padding adds to them.
double ValueSigns::along(const Edge& edge, Lines lines) const {
  const std::array<double, 3>& of = coherence_[edge.source.node.index()];
  if (lines == any) return of[any];
  for (auto tm = edge.tms.rbegin(); tm != edge.tms.rend(); ++tm) {
    if (tm->kind == TmKind::transpose) {
      lines = lines == rows ? columns : rows;
    } else if (tm->kind == (lines == rows ? TmKind::hslice : TmKind::vslice) || tm->kind == TmKind::pad || tm->kind == TmKind::unpad) {
      return of[any];
    }
  }
  return of[lines];
}

double ValueSigns::result_coherence(const Node& n, Lines lines) const {
  auto in = [&](std::size_t i) { return along(n.inputs()[i], lines); };
  if (sums_products(n)) return coherence_of_product(n);
  if (keeps_signs(n)) return in(0);
  if (n.op() == "multiply") return has_independent_factors(graph_, n) ? in(0) * in(1) : 1;
  if (lines != any && subtracts_mean(graph_, n, lines == rows)) return 0;
  const bool mixes = n.op() == "add" || n.op() == "subtract" || n.op() == "splice";
  if (!mixes) return 1;
  double most = 0;
  for (std::size_t i = 0; i < n.inputs().size(); ++i) most = std::max(most, in(i));
  return most;
}

double ValueSigns::coherence_of_gathered(const Node& n) const {
  const Node& gather = graph_.node(n.inputs()[0].source.node);
  if (gather.op() != "gather" || integer_attr(gather, "dim", 0) != 0 || n.attrs.contains(std::string(ops::kViewSplit))) return 1;
  const Node& table = graph_.node(gather.inputs()[0].source.node);
  const std::size_t rank = n.outputs[0].shape.rank();
  if (!table.has_value() || !table.value || !is_float(table.value->tensor.dtype()) || table.value->tensor.shape().rank() != 2) return 1;
  // The host may have reshaped what arrives.
  const bool has_rows = graph::tiled_side(table.value->tensor.shape()[1]) == n.outputs[0].shape[rank - 1];
  return has_rows ? lines_of(table.value->tensor, true).coherence : 1;
}

// The mean of a sum of n terms grows with n, what is random in it with the root of n.
double ValueSigns::coherence_of_product(const Node& n) const {
  auto in = [&](std::size_t i) { return along(n.inputs()[i], any); };
  const auto sum = sum_of(n, graph::MathFidelity::hifi4);
  if (!sum) return 1;
  const bool sparse = ops::is_sparse_product(n);
  const double factors = sparse ? in(1) * (n.inputs().size() > 2 ? in(2) : 1.0) : in(0) * in(1);
  double result = std::min(1.0, factors * std::sqrt(static_cast<double>(std::max<std::int64_t>(sum->terms, 1))));
  if (!sparse && flag(n, "bias")) result = std::max(result, in(2));
  return result;
}

std::optional<SumSteps> ValueSigns::sum_of(const Node& n, graph::MathFidelity fidelity) const {
  if (!sums_products(n) || multiplies_integers(n)) return std::nullopt;
  const bool sparse = ops::is_sparse_product(n);
  auto operand = [&](std::size_t i, bool along_columns) {
    Operand o{along(n.inputs()[i], along_columns ? rows : columns), 1, true};
    if (auto lines = constant_lines(graph_, n, i, along_columns)) o = {lines->coherence, lines->density, lines->low_bits(i == 0)};
    return o;
  };
  SumSteps sum;
  if (sparse) {
    // Each row that is picked is a step of its own. Weights stand in the selection's matrix, which goes through SrcB.
    const Shape& picks = graph_.node(n.inputs()[0].source.node).outputs[0].shape;
    const Node& matrix = graph_.node(n.inputs()[0].source.node);
    sum.terms = matrix.value ? most_picks(matrix.value->tensor, integer_attr(n, "slices", 1)) : picks[2];
    sum.steps = sum.terms;
    const double weights = n.inputs().size() > 2 ? along(n.inputs()[2], any) : 1.0;
    sum.coherence = along(n.inputs()[1], any) * weights;
    sum.phases = fidelity == graph::MathFidelity::lofi ? 1 : 2;
    return sum;
  }
  const Operand left = operand(0, true), right = operand(1, false);
  auto arrives = graph_.type(n.inputs()[n.op() == "depthwise" ? 1 : 0]);
  if (!arrives) return std::nullopt;
  const std::int64_t inner = arrives->shape[n.op() == "depthwise" ? 2 : 3];
  const std::int64_t slices = flag(n, "accumulate") ? integer_attr(n, "z", 1) : 1;
  const double density = std::min(left.density, right.density);
  const auto terms = static_cast<std::int64_t>(std::ceil(density * static_cast<double>(inner)));
  sum.terms = terms * slices;
  sum.steps = std::min(ceil_div(inner, kTermsOfStep), std::max<std::int64_t>(terms, 1)) * slices;
  sum.coherence = left.coherence * right.coherence;
  const bool second = right.low_bits && fidelity != graph::MathFidelity::lofi;
  const bool third = left.low_bits && fidelity != graph::MathFidelity::lofi && fidelity != graph::MathFidelity::hifi2;
  sum.phases = 1 + (second ? 1 : 0) + (third ? 1 : 0) + (second && third && fidelity == graph::MathFidelity::hifi4 ? 1 : 0);
  return sum;
}

}  // namespace buda::passes
