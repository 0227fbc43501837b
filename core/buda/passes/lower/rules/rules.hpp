// SPDX-License-Identifier: Apache-2.0
// The rules of lowering: what becomes of each op.
#pragma once

#include <buda/passes/lower/op_builder.hpp>
#include <buda/passes/lower/operands.hpp>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {

// The device value that stands for the node's result, or why there is none (PA020). After a maximum along c also what it was taken of, for
// a later subtraction.
struct RuleResult {
  RuleResult(Result<Lowered> v) : value(std::move(v)) {}  // NOLINT: implicit on purpose, as in Result
  RuleResult(Lowered v) : value(std::move(v)) {}          // NOLINT
  RuleResult(Failure why) : value(std::move(why)) {}      // NOLINT
  RuleResult(Diagnostic why) : value(std::move(why)) {}   // NOLINT

  Result<Lowered> value;
  std::optional<MaximumArgument> maximum_argument = {};
};

// From the operands of a node to the value of its result; ops are written to `out`.
using LowerOp = RuleResult (*)(Operands& in, OpBuilder& out);

struct LoweringRule {
  std::string_view op;  // at tensor level
  LowerOp lower;
  bool takes_known_integers = false;  // selection matrices, indices
  // Whether it also serves integers and booleans, which are floating-point numbers on the device: what moves elements, and what converts
  // them.
  bool any_type = false;
};

// Each in the file of its name.
const std::vector<LoweringRule>& eltwise_rules();
const std::vector<LoweringRule>& matmul_rules();
const std::vector<LoweringRule>& reduce_rules();
const std::vector<LoweringRule>& selection_rules();
const std::vector<LoweringRule>& concatenation_rules();
const std::vector<LoweringRule>& sparse_rules();

// Null when an op has none. Reshapes and transposes need none: they are lowered when somebody asks for their result (values.hpp).
const LoweringRule* find_lowering_rule(std::string_view op);

}  // namespace buda::passes
