// SPDX-License-Identifier: Apache-2.0
// Which axis of an input an axis of the result comes from.
#include <buda/passes/fracture/fracture_rules.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;

using Axis = std::optional<std::size_t>;
using Outcome = std::variant<Split, std::string>;
using Dims = std::vector<std::int64_t>;

struct Call {
  const Graph& graph;
  const Node& n;
  std::size_t axis;  // of the result
  std::int64_t factor;
  ops::Attrs attrs;

  const Shape& result() const { return n.outputs[0].shape; }
  std::size_t count() const { return n.inputs().size(); }
  const Shape& in(std::size_t i) const { return graph.type(n.inputs()[i].source)->shape; }
  // The axis of an input that broadcasts to the result as NumPy has it; nothing where it repeats.
  Axis broadcast_from(std::size_t input) const {
    const Shape& s = in(input);
    if (axis + s.rank() < result().rank()) return std::nullopt;
    std::size_t own = axis + s.rank() - result().rank();
    return s[own] == 1 ? std::nullopt : Axis(own);
  }
  // A shape among the attributes, of the result, with the axis shortened.
  graph::AttrMap with_part_of(const char* attr) const {
    graph::AttrMap out = n.attrs;
    Dims dims = result().dims();
    dims[axis] /= factor;
    out[attr] = dims;
    return out;
  }
};

std::string mixes(const Call& c) { return cat(c.n.op(), " combines the elements along this axis"); }

Outcome elementwise(const Call& c) {
  Split out{{}, c.n.attrs, {}};
  for (std::size_t i = 0; i < c.count(); ++i) out.cuts.push_back(c.broadcast_from(i));
  return out;
}

// The first input along the same axis, the others as a whole.
Split of_first(const Call& c) {
  Split out{std::vector<Axis>(c.count()), c.n.attrs, {}};
  out.cuts[0] = c.axis;
  return out;
}

Outcome matmul(const Call& c) {
  if (c.in(0).rank() < 2 || c.in(1).rank() < 2) return cat("products with vectors are not split");
  Split out = std::get<Split>(elementwise(c));
  if (c.axis + 1 == c.result().rank()) out.cuts[0].reset();
  if (c.axis + 2 == c.result().rank()) out.cuts[1].reset();
  if (c.axis + 1 == c.result().rank()) out.cuts[1] = c.in(1).rank() - 1;
  if (c.axis + 2 == c.result().rank()) out.cuts[0] = c.in(0).rank() - 2;
  return out;
}

Outcome gemm(const Call& c) {
  Split out{std::vector<Axis>(c.count()), c.n.attrs, {}};
  if (c.axis == 0) out.cuts[0] = c.attrs.boolean("trans_a") ? 1 : 0;
  if (c.axis == 1) out.cuts[1] = c.attrs.boolean("trans_b") ? 0 : 1;
  if (c.count() > 2) out.cuts[2] = c.broadcast_from(2);
  return out;
}

Outcome convolution(const Call& c) {
  Split out{std::vector<Axis>(c.count()), c.n.attrs, {}};
  if (c.axis == 0) {
    out.cuts[0] = 0;
    return out;
  }
  if (c.axis != 1) return cat("windows extend along it; channels (axis 1) and samples (axis 0) can be split");
  std::int64_t groups = c.attrs.integer("groups");
  if (groups % c.factor == 0 && groups > 1) {
    out.cuts[0] = 1;
    out.attrs["groups"] = groups / c.factor;
  } else if (groups > 1) {
    return cat("its ", groups, " groups cannot be divided into ", c.factor, " parts");
  }
  out.cuts[1] = 0;
  if (c.count() > 2) out.cuts[2] = 0;
  return out;
}

Outcome softmax(const Call& c) {
  if (*c.result().axis(c.attrs.integer("dim")) == c.axis) return mixes(c);
  return of_first(c);
}

Outcome layernorm(const Call& c) {
  if (c.axis >= *c.in(0).axis(c.attrs.integer("dim"))) return mixes(c);
  return of_first(c);
}

Outcome batchnorm(const Call& c) {
  Split out = of_first(c);
  if (c.axis == 1) std::fill(out.cuts.begin() + 1, out.cuts.end(), Axis(0));
  return out;
}

// Of samples and channels each stands for itself.
Outcome pool(const Call& c) {
  if (c.axis > 1) return cat("windows extend along it; channels (axis 1) and samples (axis 0) can be split");
  return of_first(c);
}

Outcome reduce(const Call& c) {
  const Shape& in = c.in(0);
  std::vector<bool> reduced(in.rank(), c.attrs.integers("dims").empty());
  for (std::int64_t dim : c.attrs.integers("dims")) reduced[*in.axis(dim)] = true;
  std::size_t at = 0;
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (reduced[i] && !c.attrs.boolean("keep_dims")) continue;
    if (at++ != c.axis) continue;
    if (reduced[i]) return mixes(c);
    Split out{{Axis(i)}, c.n.attrs, {}};
    return out;
  }
  return mixes(c);
}

Outcome transpose(const Call& c) { return Split{{c.in(0).axis(c.attrs.integers("perm")[c.axis])}, c.n.attrs, {}}; }

// An axis of the input that begins with the same element and goes into as many parts.
Outcome regrouped(const Call& c, graph::AttrMap attrs) {
  std::int64_t before = 1, wanted = 1;
  for (std::size_t i = 0; i < c.axis; ++i) wanted *= c.result()[i];
  for (std::size_t i = 0; i < c.in(0).rank(); ++i) {
    if (before == wanted && c.in(0)[i] > 1) {
      if (c.in(0)[i] % c.factor != 0) break;
      return Split{{Axis(i)}, std::move(attrs), {}};
    }
    before *= c.in(0)[i];
  }
  return cat("it is not a complete axis of the input, ", c.in(0).text());
}

Outcome reshape(const Call& c) { return regrouped(c, c.with_part_of("shape")); }
Outcome squeeze(const Call& c) {
  if (c.attrs.integers("dims").empty() && c.result()[c.axis] == c.factor) return cat("parts of one element would lose the axis");
  return regrouped(c, c.n.attrs);
}
Outcome unsqueeze(const Call& c) { return regrouped(c, c.n.attrs); }

Outcome broadcast(const Call& c) { return Split{{c.broadcast_from(0)}, c.with_part_of("shape"), {}}; }

Outcome concatenate(const Call& c) {
  if (*c.result().axis(c.attrs.integer("dim")) == c.axis) return cat("its inputs are concatenated along this axis");
  return Split{std::vector<Axis>(c.count(), c.axis), c.n.attrs, {}};
}

Outcome slice(const Call& c) {
  for (std::int64_t dim : c.attrs.integers("dims"))
    if (*c.in(0).axis(dim) == c.axis) return cat("it already selects a part along this axis");
  return of_first(c);
}

Outcome pad(const Call& c) {
  if (c.attrs.integers("before")[c.axis] != 0 || c.attrs.integers("after")[c.axis] != 0) return cat("it pads along this axis");
  return of_first(c);
}

// Axes of the table, with those of the indices in the place of `dim`.
Outcome gather(const Call& c) {
  std::size_t dim = *c.in(0).axis(c.attrs.integer("dim")), indices = c.in(1).rank();
  Split out{std::vector<Axis>(2), c.n.attrs, {}};
  if (c.axis < dim) {
    out.cuts[0] = c.axis;
  } else if (c.axis < dim + indices) {
    out.cuts[1] = c.axis - dim;
  } else {
    out.cuts[0] = c.axis - indices + 1;
  }
  return out;
}

using SplitRule = Outcome (*)(const Call&);

SplitRule rule_of(const Node& n, const ops::OpDef& def) {
  static const std::map<std::string_view, SplitRule> by_op = {{"matmul", matmul},       {"gemm", gemm},
                                                              {"conv1d", convolution},  {"conv2d", convolution},
                                                              {"conv3d", convolution},  {"softmax", softmax},
                                                              {"log_softmax", softmax}, {"layernorm", layernorm},
                                                              {"batchnorm", batchnorm}, {"max_pool1d", pool},
                                                              {"max_pool2d", pool},     {"max_pool3d", pool},
                                                              {"avg_pool1d", pool},     {"avg_pool2d", pool},
                                                              {"avg_pool3d", pool},     {"reduce_avg", reduce},
                                                              {"reduce_max", reduce},   {"reduce_min", reduce},
                                                              {"reduce_prod", reduce},  {"reduce_sum", reduce},
                                                              {"transpose", transpose}, {"reshape", reshape},
                                                              {"squeeze", squeeze},     {"unsqueeze", unsqueeze},
                                                              {"broadcast", broadcast}, {"concatenate", concatenate},
                                                              {"slice", slice},         {"pad", pad},
                                                              {"gather", gather},       {"where", elementwise}};
  if (auto found = by_op.find(n.op()); found != by_op.end()) return found->second;
  static constexpr std::array kFamilies = {std::string_view("eltwise_unary"), std::string_view("eltwise_binary"),
                                           std::string_view("eltwise_math"), std::string_view("activation"),
                                           std::string_view("comparison")};
  return std::find(kFamilies.begin(), kFamilies.end(), def.family) != kFamilies.end() ? elementwise : nullptr;
}

// The axes of both inputs that make up the inner dimension.
std::optional<std::array<std::size_t, 2>> inner_axes(const Graph& graph, const Node& n, const ops::Registry& registry) {
  const ops::OpDef* def = registry.find(graph::Level::tensor, n.op());
  if (def == nullptr || n.inputs().size() < 2) return std::nullopt;
  ops::Attrs attrs(*def, n.attrs);
  std::size_t a = graph.type(n.inputs()[0].source)->shape.rank(), b = graph.type(n.inputs()[1].source)->shape.rank();
  if (n.op() == "matmul" && a >= 2 && b >= 2) return std::array{a - 1, b - 2};
  if (n.op() == "gemm") return std::array<std::size_t, 2>{attrs.boolean("trans_a") ? 0u : 1u, attrs.boolean("trans_b") ? 1u : 0u};
  bool convolves = n.op() == "conv1d" || n.op() == "conv2d" || n.op() == "conv3d";
  if (convolves && attrs.integer("groups") == 1) return std::array<std::size_t, 2>{1, 1};
  return std::nullopt;
}

}  // namespace

Outcome split_along(const Graph& graph, const Node& n, std::size_t axis, std::int64_t factor, const ops::Registry& registry) {
  const ops::OpDef* def = registry.find(graph::Level::tensor, n.op());
  SplitRule rule = def == nullptr || n.outputs.size() != 1 ? nullptr : rule_of(n, *def);
  if (rule == nullptr) return cat("ops of type ", n.op(), " are not split");
  return rule({graph, n, axis, factor, ops::Attrs(*def, n.attrs)});
}

Outcome split_inner(const Graph& graph, const Node& n, std::int64_t, const ops::Registry& registry) {
  auto axes = inner_axes(graph, n, registry);
  if (!axes) return cat("ops of type ", n.op(), " have no inner dimension; products of matrices and convolutions without groups have one");
  Split out{std::vector<Axis>(n.inputs().size()), n.attrs, 2};
  out.cuts[0] = (*axes)[0];
  out.cuts[1] = (*axes)[1];
  return out;
}

std::optional<std::int64_t> inner_size(const Graph& graph, const Node& n, const ops::Registry& registry) {
  auto axes = inner_axes(graph, n, registry);
  if (!axes) return std::nullopt;
  return graph.type(n.inputs()[0].source)->shape[(*axes)[0]];
}

}  // namespace buda::passes
