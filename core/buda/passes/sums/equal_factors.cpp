// SPDX-License-Identifier: Apache-2.0
// Stages of blocks, each the product with a matrix of ones in blocks; the last is the product with a column of ones.
#include <buda/passes/sums/equal_factors.hpp>

#include <buda/passes/formats/accumulation_error.hpp>
#include <buda/passes/formats/constant_signs.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/sums/splitter.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/formats/math_unit.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace buda::passes {

using graph::AttrMap;

namespace {

// Numbers that a sum with equal factors adds up at its end: a step along c, one of its two groups along r. There they are the right
// operand, of which a phase reads fewer bits, so that the other phase adds more, and rounds.
constexpr std::int64_t last_terms(bool along_c) { return along_c ? kTermsOfStep : kTermsOfStep / 2; }
// Numbers that one of the next stage is made of, at most: a few steps, each of which rounds. For the last stage twice as many.
constexpr std::int64_t kTermsOfColumn = 32;

// As many for each stage, and as few as the fewest stages allow.
std::int64_t terms_of_column(std::int64_t terms, std::int64_t last) {
  std::int64_t stages = 1;
  for (std::int64_t most = 2 * last * kTermsOfColumn; most < terms; most *= kTermsOfColumn) ++stages;
  const auto root = std::pow(static_cast<double>(terms) / last, 1.0 / static_cast<double>(stages));
  return std::min(align_up(static_cast<std::int64_t>(std::ceil(root - 1e-9)), kTermsOfStep),
                  stages == 1 ? 2 * kTermsOfColumn : kTermsOfColumn);
}

// One stage: each number of the result is the sum of so many, side by side (along c) or below one another.
Edge summed_parts(Splitter& s, const Edge& x, EqualFactors& of) {
  const std::size_t axis = of.along_c ? 3 : 2;
  const Shape from = s.shape(x);
  const std::int64_t of_column = terms_of_column(of.terms, last_terms(of.along_c)), all = from[axis] / kSide;
  const std::int64_t parts = of_column * last_terms(of.along_c) >= of.terms ? 1 : parts_of(all, of_column);
  const std::int64_t length = ceil_div(all, parts) * kSide;
  // Padding of what is added up may hold anything: there the blocks are zeros, and so differ from part to part.
  const std::int64_t different = of.terms == all * kSide ? 1 : parts;
  std::vector<float> numbers(static_cast<std::size_t>(different * length * kSide), 0.0f);
  for (std::int64_t part = 0; part < different; ++part)
    for (std::int64_t i = 0; i < length; ++i) {
      if (different > 1 ? part * length + i >= of.terms : i >= of.terms) continue;
      const std::int64_t column = i / of_column, place = of.along_c ? i * kSide + column : column * length + i;
      numbers[static_cast<std::size_t>(part * length * kSide + place)] = of.factor;
    }
  const Shape matrix = of.along_c ? Shape{1, different, length, kSide} : Shape{1, different, kSide, length};
  const Edge blocks = repeated(s.constant("blocks", matrix, std::move(numbers)), TmDim::z, from[1] * parts / different);
  const Edge part = sliced(s, x, of.along_c, all, parts);
  Shape shape = from;
  shape[1] *= parts;
  shape[axis] = kSide;
  Edge sums(s.op("parts", "matmul", of.along_c ? std::vector<Edge>{part, blocks} : std::vector<Edge>{blocks, part}, {}, std::move(shape)));
  if (parts > 1) sums.tms.push_back(of.along_c ? Tm::hstack(parts) : Tm::vstack(parts));
  of.terms = parts > 1 ? parts * kSide : ceil_div(std::min(of.terms, length), of_column);
  return sums;
}

// The addition of a constant to a sum, which can be the bias of its last product: of one number in all places, so that it does not matter
// which row of the bias is added.
std::optional<graph::Use> added_constant(const Graph& graph, const Node& n) {
  const std::vector<graph::Use> users = graph.users(n.id());
  if (users.size() != 1 || !n.attrs.empty() || !may_fuse(n)) return std::nullopt;
  const Node& add = graph.node(users[0].node);
  if (add.op() != "add" || !only_feeds(graph, n, add) || !may_fuse(add) || !add.inputs()[users[0].input].tms.empty()) return std::nullopt;
  const Edge& other = add.inputs()[1 - users[0].input];
  const Node& source = graph.node(other.source.node);
  const bool only_repeated =
      std::all_of(other.tms.begin(), other.tms.end(), [](const Tm& tm) { return tm.kind == graph::TmKind::broadcast; });
  if (!source.has_value() || !source.value || !only_repeated || !only_factor(source.value->tensor)) return std::nullopt;
  const bool fills_tiles = source.outputs[0].shape.volume() == static_cast<std::int64_t>(source.value->tensor.size());
  auto type = graph.type(other);
  return fills_tiles && type && type->shape == n.outputs[0].shape ? std::optional(users[0]) : std::nullopt;
}

// The editor replaces the product, or the addition after it.
void split_in_stages(Splitter& s, const Node& n, EqualFactors of, AttrMap attrs, std::optional<Edge> bias) {
  const std::size_t axis = of.along_c ? 3 : 2;
  Edge x = n.inputs()[of.along_c ? 0 : 1];
  const Shape result = n.outputs[0].shape;
  const auto [first, last] = two_factors(of.factor);
  of.factor = first;
  // Halves of a step's sum are rounded up, which would add up over the stages: every other stage has negative sums.
  bool are_negative = false;
  do {
    x = summed_parts(s, x, of);
    are_negative = are_negative != of.factor < 0;
    of.factor = -1;
  } while (of.terms > last_terms(of.along_c));
  Edge ones = s.constant("ones", Shape{1, 1, kSide, kSide}, std::vector<float>(kSide * kSide, are_negative ? -last : last));
  ones = repeated(std::move(ones), TmDim::z, s.shape(x)[1]);
  ones = repeated(std::move(ones), of.along_c ? TmDim::r : TmDim::c, s.shape(x)[axis] / kSide);
  std::vector<Edge> inputs = of.along_c ? std::vector<Edge>{x, ones} : std::vector<Edge>{ones, x};
  if (bias) {
    inputs.push_back(std::move(*bias));
    attrs["bias"] = true;
  }
  s.replace_by(s.op("sum", "matmul", std::move(inputs), std::move(attrs), result));
}

}  // namespace

std::optional<EqualFactors> equal_factors(const Graph& graph, const Node& n) {
  for (bool along_c : {true, false}) {
    const Edge& edge = n.inputs()[along_c ? 1 : 0];
    const Node& source = graph.node(edge.source.node);
    if (!source.has_value() || !source.value || source.value->tensor.dtype() != DType::f32) continue;
    const Tensor& t = source.value->tensor;
    const bool only_repeated =
        std::all_of(edge.tms.begin(), edge.tms.end(), [](const Tm& tm) { return tm.kind == graph::TmKind::broadcast; });
    const std::size_t axis = along_c ? 0 : 1;
    if (t.shape().rank() != 2 || t.shape()[1 - axis] != kSide || t.size() == 0 || !only_repeated) continue;
    const auto factor = only_factor(t);
    if (!factor || *factor == 0) continue;
    const Shape& other = graph.type(n.inputs()[along_c ? 0 : 1])->shape;
    const std::int64_t inner = other[along_c ? 3 : 2], stored = t.shape()[axis];
    return EqualFactors{along_c, *factor, graph::tiled_side(stored) == inner ? stored : inner};
  }
  return std::nullopt;
}

std::pair<float, float> two_factors(float factor) {
  std::pair<float, float> best{factor, 1.0f};
  if (factor == masked_bits(factor, kMultiplierA.high) || !std::isnormal(factor)) return best;
  float least = 1;
  for (int significand = 16; significand < 32; ++significand) {
    const float first = static_cast<float>(significand) / 16, second = factor / first;
    const float lost = 1 - masked_bits(second, 0xffff0000u) / second;
    if (lost >= least) continue;
    least = lost;
    best = {first, second};
  }
  return best;
}

void split_equal_factors(Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  const EqualFactors of = *equal_factors(graph, n);
  const auto added = added_constant(graph, n);
  Splitter s(graph, added ? added->node : id);
  if (!added) return split_in_stages(s, n, of, n.attrs, std::nullopt);
  const Node& add = graph.node(added->node);
  split_in_stages(s, n, of, add.attrs, add.inputs()[1 - added->input]);
}

}  // namespace buda::passes
