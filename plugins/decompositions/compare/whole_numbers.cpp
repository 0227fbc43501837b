// Ops of whole numbers as the same ops of F32.
//
// Exact as long as all numbers stay below 2^24 in size, which indices, lengths and labels do. Sums and products only of 32 and 64 bits:
// narrower types wrap around much earlier, and that the device does not imitate.
#include "rules.hpp"

#include <algorithm>

namespace buda::compare {
namespace {

using namespace plugin;

bool is_whole(const graph::Graph& graph, const graph::Node& n) { return is_integer(graph.type(n.inputs()[0].source)->dtype); }
bool is_wide(const graph::Graph& graph, const graph::Node& n) {
  DType t = graph.type(n.inputs()[0].source)->dtype;
  return t == DType::i32 || t == DType::i64;
}

Term same_of_two(Rewrite& r) {
  Term a = r.in(0);
  return r.op(r.op_name(), {a, r.in(1)});
}
Term same_of_one(Rewrite& r) { return r.op(r.op_name(), {r.in(0)}); }
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
  return {
      spec("whole_arithmetic", "sums and products of whole numbers in F32", {"add", "subtract", "multiply"},
           {"add", "subtract", "multiply"}, same_of_two, is_wide),
      spec("whole_maximum", "the larger of whole numbers in F32", {"maximum"}, {"maximum"}, same_of_two, is_whole),
      spec("whole_minimum", "the smaller of whole numbers in F32", {"minimum"}, {"negative", "maximum"}, smaller, is_whole),
      spec("whole_unary", "sizes, negatives and ReLUs of whole numbers in F32", {"abs", "negative", "relu"}, {"abs", "negative", "relu"},
           same_of_one, is_whole),
      spec("whole_clip", "bounds of whole numbers in F32", {"clip"}, {"clip"}, clipped, is_whole),
  };
}

}  // namespace buda::compare
