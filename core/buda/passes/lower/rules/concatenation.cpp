// Lowering of concatenations: the sum of the parts, each with zeros in the others' places.
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/select.hpp>

#include <numeric>
#include <optional>
#include <utility>

namespace buda::passes {
namespace {

RuleResult lower_concatenate(Operands& in, OpBuilder& out) {
  if (in.size() == 1) return in.value(0);
  const Shape& result = in.result_type().shape;
  std::size_t axis = *result.axis(in.attrs().integer("dim"));
  std::optional<Lowered> sum;
  std::int64_t begin = 0;
  ValueRange data = ValueRange::exactly(0);
  bool first = true;
  std::size_t last = in.size() - 1;
  while (last > 0 && in.type(last).shape.volume() == 0) --last;
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::int64_t size = in.type(i).shape[axis];
    if (in.type(i).shape.volume() == 0) continue;
    Places places(static_cast<std::size_t>(result[axis]), kNone);
    std::iota(places.begin() + begin, places.begin() + begin + size, 0);
    begin += size;
    BUDA_ASSIGN(Lowered part, selected(in, i, {{axis, places}}, out));
    BUDA_ASSIGN(Lowered own, in.value(i));
    data = first ? own.data : hull(data, own.data);
    first = false;
    if (sum) {
      BUDA_ASSIGN(part, sum_of(out, i == last ? "" : "sum", std::move(*sum), std::move(part)));
    }
    sum = std::move(part);
  }
  if (!sum) return out.refuse("none of its inputs has elements", "leave it out of the model");
  sum->data = data;
  return std::move(*sum);
}

}  // namespace

const std::vector<LoweringRule>& concatenation_rules() {
  static const std::vector<LoweringRule> rules = {{"concatenate", lower_concatenate, false, true}};
  return rules;
}

}  // namespace buda::passes
