// SPDX-License-Identifier: Apache-2.0
// The gradient rules by family, and the table of all.
#pragma once

#include <buda/autograd/backward.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::autograd {

// What the table says of an op.
enum class RuleKind : std::uint8_t {
  formula,     // `rule` builds the gradient
  constant,    // its result does not change with its inputs, or in steps, so that the gradient is 0 wherever there is one
  decomposed,  // decomposed first (DecomposeNodes), and what that leaves is differentiated
  refused,     // there is no gradient that would serve
};

struct GradientRule {
  std::string_view op;
  RuleKind kind = RuleKind::formula;
  void (*rule)(Backward&) = nullptr;
  std::string_view reason = {};  // of `constant` and `refused`

  constexpr GradientRule(std::string_view name, void (*formula)(Backward&)) : op(name), rule(formula) {}
  constexpr GradientRule(std::string_view name, RuleKind without, std::string_view why) : op(name), kind(without), reason(why) {}
};

// Null for an op that the table does not know.
const GradientRule* find_rule(std::string_view op);
// By op.
std::vector<GradientRule> all_rules();

std::span<const GradientRule> rules_without_formula();
std::span<const GradientRule> elementwise_rules();
std::span<const GradientRule> activation_rules();
std::span<const GradientRule> indexing_rules();
std::span<const GradientRule> linear_rules();
std::span<const GradientRule> movement_rules();
std::span<const GradientRule> normalization_rules();
std::span<const GradientRule> reduction_rules();
std::span<const GradientRule> spatial_rules();
std::span<const GradientRule> pool_rules();

}  // namespace buda::autograd
