// SPDX-License-Identifier: Apache-2.0
// Ops of whole numbers as the same ops of F32.
//
// The pass exact-integers leaves those ops that are exact so: all numbers are small, and none leaves its type.
#include "rules.hpp"

#include <buda/graph/graph.hpp>

#include <algorithm>

namespace buda::compare {
namespace {

using namespace plugin;

DType type_of(const graph::Graph& graph, const graph::Node& n) { return graph.type(n.inputs()[0].source)->dtype; }
bool is_whole_number(const graph::Graph& graph, const graph::Node& n) { return is_integer(type_of(graph, n)); }
bool has_one_result(const graph::Graph& graph, const graph::Node& n) { return is_whole_number(graph, n) && n.outputs.size() == 1; }
bool is_wide(const graph::Graph& graph, const graph::Node& n) { return is_whole_number(graph, n) && dtype_size(type_of(graph, n)) >= 4; }

Term same(Rewrite& r) {
  std::vector<Term> inputs;
  for (std::size_t i = 0; i < r.count(); ++i) inputs.push_back(r.in(i));
  return r.op(r.op_name(), inputs, r.given_attrs());
}
Term smaller(Rewrite& r) {
  Term a = -r.in(0);
  Term b = -r.in(1);
  return -maximum(a, b);
}
Term clipped(Rewrite& r) { return clip(r.in(0), r.real("min"), r.real("max")); }

RuleSpec spec(std::string name, std::string summary, std::vector<std::string> ops, std::vector<std::string> produces,
              Term (*build)(Rewrite&), bool (*matches)(const graph::Graph&, const graph::Node&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .consumes = std::move(ops),
          .produces = std::move(produces),
          .build = build,
          .takes = Takes::anything,
          .matches = matches};
}

}  // namespace

std::vector<RuleSpec> whole_number_rules() {
  const std::vector<std::string> sums = {"matmul", "conv1d", "conv2d", "conv3d", "reduce_sum", "cumsum"};
  const std::vector<std::string> maxima = {"max_pool1d", "max_pool2d", "max_pool3d"};
  return {
      spec("whole_arithmetic", "sums and products of integers in F32", {"add", "subtract", "multiply"}, {"add", "subtract", "multiply"},
           same, is_wide),
      spec("whole_sums", "sums of products of integers in F32", sums, sums, same, is_wide),
      spec("whole_pools", "maxima of windows of integers in F32", maxima, maxima, same, has_one_result),
      spec("whole_maximum", "the maximum of integers in F32", {"maximum"}, {"maximum"}, same, is_whole_number),
      spec("whole_minimum", "the minimum of integers in F32", {"minimum"}, {"negative", "maximum"}, smaller, is_whole_number),
      spec("whole_unary", "absolute values, negatives and ReLUs of integers in F32", {"abs", "negative", "relu"},
           {"abs", "negative", "relu"}, same, is_whole_number),
      spec("whole_clip", "bounds of integers in F32", {"clip"}, {"clip"}, clipped, is_whole_number),
  };
}

}  // namespace buda::compare
