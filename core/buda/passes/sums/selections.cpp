// SPDX-License-Identifier: Apache-2.0
// Terms of few results are put in order by the selection itself.
#include <buda/passes/sums/selections.hpp>

#include <buda/passes/formats/accumulation_error.hpp>
#include <buda/passes/sums/equal_factors.hpp>
#include <buda/passes/sums/partial_sums.hpp>
#include <buda/passes/sums/splitter.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/values/value.hpp>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::passes {

using graph::AttrMap;

namespace {

// Enough to stall.
constexpr std::int64_t kMinTerms = 16;

// Rows of zeros at the end.
template <class T>
Tensor with_rows(const Tensor& t, std::int64_t rows) {
  std::vector<T> numbers(t.as<T>().begin(), t.as<T>().end());
  numbers.resize(static_cast<std::size_t>(rows * t.shape()[1]));
  return Tensor(Shape{rows, t.shape()[1]}, std::move(numbers));
}

// The factor of all terms, where they have one. Terms without are moved, and so keep all of their bits.
std::optional<float> common_factor(const Tensor& picks, const Tensor& factors) {
  std::optional<float> common;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    if (picks.as<std::int32_t>()[i] == 0) continue;
    const float factor = factors.as<float>()[i];
    if (factor == 0 || common.value_or(factor) != factor) return std::nullopt;
    common = factor;
  }
  return common;
}

// Of a matrix with a row for each term: the terms of a result follow each other, 16 for each sum.
template <class T>
Tensor terms_in_order(const Tensor& rows, std::int64_t sums, std::int64_t tile_rows) {
  const std::int64_t terms = rows.shape()[0], width = rows.shape()[1], at_once = ceil_div(terms, sums);
  std::vector<T> out;
  for (std::int64_t sum = 0; sum < sums; ++sum)
    for (std::int64_t row = 0; row < tile_rows * kSide; ++row)
      for (std::int64_t m = 0; m < kTermsOfStep; ++m) {
        const std::int64_t term = sum * at_once + m;
        const bool is_there = m < at_once && term < terms && row < width;
        out.push_back(is_there ? rows.as<T>()[static_cast<std::size_t>(term * width + row)] : T{});
      }
  return Tensor(Shape{sums * tile_rows, kSide * kTermsOfStep}, std::move(out));
}

// A selection can put its terms in order at once: nothing is rounded before steps add them up.
NodeId sum_of_ordered_terms(Splitter& s, std::vector<Edge> inputs, const Tensor& picks, const Tensor* factors, const Shape& result,
                            const AttrMap& packs) {
  const std::int64_t tile_rows = result[2] / kSide, sums = ceil_div(picks.shape()[0], kTermsOfStep), slices = sums * tile_rows;
  inputs[0] = s.constant("order", terms_in_order<std::int32_t>(picks, sums, tile_rows));
  Factors ends;
  if (const auto common = factors != nullptr ? common_factor(picks, *factors) : std::nullopt) {
    std::tie(ends.first, ends.last) = two_factors(*common);
    inputs.pop_back();
  } else if (factors != nullptr) {
    inputs[2] = s.constant("factors", terms_in_order<float>(*factors, sums, tile_rows));
  }
  const Edge members(s.op("ordered", "matmul", std::move(inputs), {{"identity", true}, {"slices", slices}},
                          {result[0], slices, kSide * kTermsOfStep, result[3]}));
  return sum_by_steps(s, {members, sums, 1}, tile_rows, ends, packs);
}

}  // namespace

std::int64_t terms_of_selection(const Graph& graph, const Node& n) {
  const Node& picks = graph.node(n.inputs()[0].source.node);
  auto slices = n.attrs.find("slices");
  if (!picks.value || picks.value->tensor.shape().rank() != 2 || slices == n.attrs.end() || slices->second != graph::Attr(std::int64_t{1}))
    return 0;
  if (picks.value->tensor.dtype() != DType::i32) return 0;
  if (n.inputs().size() > 2) {
    const Node& factors = graph.node(n.inputs()[2].source.node);
    if (!factors.value || factors.value->tensor.dtype() != DType::f32 || factors.value->tensor.shape() != picks.value->tensor.shape())
      return 0;
  }
  auto x = graph.type(n.inputs()[1]);
  const std::int64_t terms = picks.value->tensor.shape()[0];
  return x && x->shape[1] == 1 && terms >= kMinTerms ? terms : 0;
}

void split_selection(Graph& graph, NodeId id) {
  Splitter s(graph, id);
  const Node& n = graph.node(id);
  const std::int64_t terms = terms_of_selection(graph, n);
  const std::int64_t slices = ceil_div(terms, kTermsOfSlice);
  AttrMap moves{{"identity", true}, {"slices", slices}}, packs;
  for (const auto& [name, value] : n.attrs)
    if (!moves.contains(name)) packs[name] = value;
  std::vector<Edge> inputs = n.inputs();
  const auto constant = [&](std::size_t i) { return i < inputs.size() ? &graph.node(inputs[i].source.node).value->tensor : nullptr; };
  const Tensor *picks = constant(0), *factors = constant(2);
  Shape shape = n.outputs[0].shape;
  if (are_few(shape)) return s.replace_by(sum_of_ordered_terms(s, std::move(inputs), *picks, factors, shape, packs));
  if (slices * kTermsOfSlice != terms) {
    inputs[0] = s.constant("picks", with_rows<std::int32_t>(*picks, slices * kTermsOfSlice));
    if (factors != nullptr) inputs[2] = s.constant("factors", with_rows<float>(*factors, slices * kTermsOfSlice));
  }
  shape[1] *= slices;
  const Edge selected(s.op("parts", "matmul", std::move(inputs), std::move(moves), std::move(shape)));
  s.replace_by(sum_of_slices(s, selected, slices, packs));
}

}  // namespace buda::passes
