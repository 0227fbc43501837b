// Ops of whole numbers as the same ops of F32.
//
// Exact as long as all numbers stay below 2^24 in size, which indices, lengths, labels and sums of products of bytes do. Sums and products
// of narrow types wrap around as they should; products of 16 bits do not stay below 2^24 and are left alone.
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
bool is_narrow(const graph::Graph& graph, const graph::Node& n) { return is_whole_number(graph, n) && dtype_size(type_of(graph, n)) < 4; }
bool is_byte(const graph::Graph& graph, const graph::Node& n) { return is_whole_number(graph, n) && dtype_size(type_of(graph, n)) == 1; }

Term same(Rewrite& r) {
  std::vector<Term> inputs;
  for (std::size_t i = 0; i < r.count(); ++i) inputs.push_back(r.in(i));
  return r.op(r.op_name(), inputs, r.given_attrs());
}
Term same_wrapped(Rewrite& r) { return wrapped_around(same(r), r.result().dtype); }
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

Term wrapped_around(const Term& x, DType type) {
  if (dtype_size(type) >= 4) return x;
  double range = dtype_size(type) == 1 ? 256 : 65536, below = type == DType::i8 || type == DType::i16 ? range / 2 : 0;
  Term moved = below == 0 ? x : x + below;
  Term times = floor_of(moved * (1 / range));
  return x - times * range;
}

std::vector<RuleSpec> whole_number_rules() {
  const std::vector<std::string> wrapping = {"add", "subtract", "multiply", "round", "clip"};
  const std::vector<std::string> sums = {"matmul", "conv1d", "conv2d", "conv3d", "reduce_sum", "cumsum"};
  const std::vector<std::string> maxima = {"max_pool1d", "max_pool2d", "max_pool3d"};
  return {
      spec("whole_arithmetic", "sums and products of integers in F32", {"add", "subtract", "multiply"}, {"add", "subtract", "multiply"},
           same, is_wide),
      spec("narrow_arithmetic", "the same of narrow types, which wrap around", {"add", "subtract"}, wrapping, same_wrapped, is_narrow),
      spec("narrow_products", "products of bytes, which wrap around", {"multiply"}, wrapping, same_wrapped, is_byte),
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
