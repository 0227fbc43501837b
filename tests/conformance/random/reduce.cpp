// SPDX-License-Identifier: Apache-2.0
// Reduction of failing recipes.
#include "reduce.hpp"

#include "integer_pool.hpp"
#include "specials.hpp"

#include <algorithm>
#include <set>

namespace buda::trial {
namespace {

using Fails = std::function<bool(const Recipe&)>;

// The op as an input that has its value, where only one of its results is read.
std::optional<Recipe> cut_at(const Recipe& recipe, std::size_t at) {
  Recipe out = recipe;
  std::set<std::size_t> read;
  for (const Step& step : out.steps)
    for (const Port& p : step.inputs)
      if (p.step == at) read.insert(p.number);
  for (const Port& p : out.outputs)
    if (p.step == at) return std::nullopt;
  if (read.size() != 1) return std::nullopt;
  const std::size_t number = *read.begin();
  Step& cut = out.steps[at];
  Step input;
  input.kind = StepKind::input;
  input.results = {cut.results[number]};
  const bool promises = std::any_of(out.steps.begin(), out.steps.end(), [](const Step& s) { return s.promise.has_value(); });
  if (promises && is_integer(input.results[0].dtype())) {
    const Tensor wide = input.results[0].cast(DType::i64);
    const auto [least, most] = std::minmax_element(wide.as<std::int64_t>().begin(), wide.as<std::int64_t>().end());
    input.promise = Promise{*least, *most};
  }
  cut = std::move(input);
  for (Step& step : out.steps)
    for (Port& p : step.inputs)
      if (p.step == at) p.number = 0;
  return without_idle_steps(out);
}

// The first result that fails as the only output, whether it was one or not.
Recipe one_output(const Recipe& recipe, const Fails& fails) {
  for (std::size_t i = 0; i < recipe.steps.size(); ++i)
    for (std::size_t k = 0; recipe.steps[i].kind == StepKind::op && k < recipe.steps[i].results.size(); ++k) {
      Recipe one = recipe;
      one.outputs = {{i, k}};
      one = without_idle_steps(one);
      if (fails(one)) return one;
    }
  return recipe;
}

}  // namespace

Recipe reduced(const Recipe& recipe, const Fails& fails) {
  Recipe out = one_output(recipe, fails);
  // From behind: a cut far behind takes the most away. Each success begins anew, since steps have other numbers then.
  for (std::size_t i = out.steps.size(); i-- > 0;) {
    if (i >= out.steps.size() || out.steps[i].kind != StepKind::op) continue;
    auto smaller = cut_at(out, i);
    if (!smaller || !fails(*smaller)) continue;
    out = std::move(*smaller);
    i = out.steps.size();
  }
  for (const std::string& kind : specials_in(out)) {
    auto plainer = without_special(out, kind);
    if (plainer && fails(*plainer)) out = std::move(*plainer);
  }
  return out;
}

}  // namespace buda::trial
