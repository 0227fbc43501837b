// SPDX-License-Identifier: Apache-2.0
// Ops that no formula differentiates: why, and which of them are decomposed first.
#include <buda/autograd/rules/rules.hpp>

namespace buda::autograd {
namespace {

constexpr std::string_view kIndex = "its result is an index";
constexpr std::string_view kInteger = "it is one of integers";
constexpr std::string_view kTruth = "its result is true or false";
constexpr std::string_view kSteps = "its result changes in steps";
constexpr std::string_view kInt8 = "it works on Int8 numbers of a device, which nothing trains";
constexpr std::string_view kRounds = "its result changes in steps: nothing before it would learn";

constexpr GradientRule kRules[] = {
    {"argmax", RuleKind::constant, kIndex},
    {"argmin", RuleKind::constant, kIndex},
    {"bitwise_and", RuleKind::constant, kInteger},
    {"bitwise_not", RuleKind::constant, kInteger},
    {"bitwise_or", RuleKind::constant, kInteger},
    {"bitwise_xor", RuleKind::constant, kInteger},
    {"ceil", RuleKind::constant, kSteps},
    {"equal", RuleKind::constant, kTruth},
    {"floor", RuleKind::constant, kSteps},
    {"greater", RuleKind::constant, kTruth},
    {"greater_equal", RuleKind::constant, kTruth},
    {"is_inf", RuleKind::constant, kTruth},
    {"is_nan", RuleKind::constant, kTruth},
    {"less", RuleKind::constant, kTruth},
    {"less_equal", RuleKind::constant, kTruth},
    {"logical_and", RuleKind::constant, kTruth},
    {"logical_not", RuleKind::constant, kTruth},
    {"logical_or", RuleKind::constant, kTruth},
    {"logical_xor", RuleKind::constant, kTruth},
    {"ngram_counts", RuleKind::constant, "it counts"},
    {"round", RuleKind::constant, kSteps},
    {"shift_left", RuleKind::constant, kInteger},
    {"shift_right", RuleKind::constant, kInteger},
    {"sign", RuleKind::constant, kSteps},

    {"determinant", RuleKind::decomposed, {}},
    {"dft", RuleKind::decomposed, {}},
    {"grid_sample", RuleKind::decomposed, {}},
    {"gru", RuleKind::decomposed, {}},
    {"lstm", RuleKind::decomposed, {}},
    {"rnn", RuleKind::decomposed, {}},
    {"roi_align", RuleKind::decomposed, {}},

    {"bitcast", RuleKind::refused, "bits that are read as another type have no derivative"},
    {"from_int8", RuleKind::refused, kInt8},
    {"int8_conv2d", RuleKind::refused, kInt8},
    {"int8_matmul", RuleKind::refused, kInt8},
    {"max_roi_pool", RuleKind::refused,
     "its regions end at rounded places, and it does not tell where its maxima are; roi_align has a gradient"},
    {"quantize", RuleKind::refused, kRounds},
    {"requantize", RuleKind::refused, kRounds},
    {"round_float8", RuleKind::refused, kRounds},
    {"to_host", RuleKind::refused, "it belongs to graphs that are compiled already"},
    {"to_int8", RuleKind::refused, kInt8},
};

}  // namespace

std::span<const GradientRule> rules_without_formula() { return kRules; }

}  // namespace buda::autograd
