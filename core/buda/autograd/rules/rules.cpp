// One table of all families' rules.
#include <buda/autograd/rules/rules.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace buda::autograd {
namespace {

constexpr GradientRule kConstantOps[] = {{"argmax"},        {"argmin"},      {"bitwise_and"}, {"bitwise_not"}, {"bitwise_or"},
                                         {"bitwise_xor"},   {"ceil"},        {"equal"},       {"floor"},       {"greater"},
                                         {"greater_equal"}, {"is_inf"},      {"is_nan"},      {"less"},        {"less_equal"},
                                         {"logical_and"},   {"logical_not"}, {"logical_or"},  {"logical_xor"}, {"ngram_counts"},
                                         {"one_hot"},       {"round"},       {"shift_left"},  {"shift_right"}, {"sign"}};

using Table = std::map<std::string_view, GradientRule>;

Table make_table() {
  Table out;
  for (const auto& family : {std::span<const GradientRule>(kConstantOps), elementwise_rules(), activation_rules(), indexing_rules(),
                             linear_rules(), movement_rules(), normalization_rules(), reduction_rules(), spatial_rules()})
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
