// SPDX-License-Identifier: Apache-2.0
// Growing graphs of integers and booleans.
#include "integers.hpp"

#include "integer_pool.hpp"

#include <string>

namespace buda::trial {
namespace {

void step(IntegerPool& pool) {
  switch (pool.growing().pick(12)) {
    case 0:
    case 1:
    case 2:
      return arithmetic_step(pool);
    case 3:
    case 4:
    case 5:
      return comparison_step(pool);
    case 6:
      return conversion_step(pool);
    case 7:
    case 8:
      return search_step(pool);
    case 9:
    case 10:
      return index_step(pool);
    default:
      return movement_step(pool);
  }
}

}  // namespace

Recipe integer_recipe(std::uint64_t seed) {
  IntegerPool pool(seed);
  Growing& g = pool.growing();
  constexpr int kMaxTrials = 40;
  const std::size_t wanted = 1 + g.pick(g.chance(50) ? 3 : 8);
  for (int i = 0; i < kMaxTrials && g.ops() < wanted; ++i) step(pool);
  return of_integers_only(g.finish());
}

Recipe of_integers_only(Recipe recipe) {
  bool floats = false;
  for (const Port& p : recipe.outputs) floats = floats || is_float(recipe.value(p).dtype());
  if (!floats) return recipe;
  std::erase_if(recipe.outputs, [&](Port p) { return is_float(recipe.value(p).dtype()); });
  return without_idle_steps(recipe);
}

}  // namespace buda::trial
