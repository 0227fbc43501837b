// SPDX-License-Identifier: Apache-2.0
// Rules of lowering by op.
#include <buda/passes/lower/rules/rules.hpp>

#include <map>

namespace buda::passes {

const LoweringRule* find_lowering_rule(std::string_view op) {
  static const auto* by_op = [] {
    auto* map = new std::map<std::string_view, const LoweringRule*>;
    for (const auto* rules :
         {&eltwise_rules(), &matmul_rules(), &reduce_rules(), &selection_rules(), &concatenation_rules(), &sparse_rules()})
      for (const LoweringRule& rule : *rules) map->emplace(rule.op, &rule);
    return map;
  }();
  auto it = by_op->find(op);
  return it == by_op->end() ? nullptr : it->second;
}

}  // namespace buda::passes
