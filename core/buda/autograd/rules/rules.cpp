// SPDX-License-Identifier: Apache-2.0
// One table of all families' rules.
#include <buda/autograd/rules/rules.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace buda::autograd {
namespace {

using Table = std::map<std::string_view, GradientRule>;

Table make_table() {
  Table out;
  for (const auto& family : {rules_without_formula(), elementwise_rules(), activation_rules(), indexing_rules(), linear_rules(),
                             movement_rules(), normalization_rules(), reduction_rules(), spatial_rules(), pool_rules()})
    for (const GradientRule& rule : family) out.emplace(rule.op, rule);
  return out;
}

const Table& table() {
  static const Table all = make_table();
  return all;
}

}  // namespace

const GradientRule* find_rule(std::string_view op) {
  auto found = table().find(op);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<GradientRule> all_rules() {
  std::vector<GradientRule> out;
  std::transform(table().begin(), table().end(), std::back_inserter(out), [](const auto& entry) { return entry.second; });
  return out;
}

}  // namespace buda::autograd
