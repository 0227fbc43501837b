// The gradient rules by family, and the table of all.
#pragma once

#include <buda/autograd/backward.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::autograd {

// `rule`: null for an op whose result does not change with its inputs, or in steps, so that its gradient is 0 wherever it has one.
struct GradientRule {
  std::string_view op;
  void (*rule)(Backward&) = nullptr;
};

// Null for an op without a rule.
const GradientRule* find_rule(std::string_view op);
// By op.
std::vector<GradientRule> all_rules();

std::span<const GradientRule> elementwise_rules();
std::span<const GradientRule> activation_rules();
std::span<const GradientRule> indexing_rules();
std::span<const GradientRule> linear_rules();
std::span<const GradientRule> movement_rules();
std::span<const GradientRule> normalization_rules();
std::span<const GradientRule> reduction_rules();
std::span<const GradientRule> spatial_rules();

}  // namespace buda::autograd
