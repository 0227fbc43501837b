// SPDX-License-Identifier: Apache-2.0
// Rules of mixed precision: which nodes they are for, and which formats and fidelity these get.
//
// A rule is what PyBuda's configure_mixed_precision takes. The user gives a list of them; the switches for mixed precision (amp-level,
// amp-light, enable-bfp8-conversion) are shorthands for some. Rules apply in order, a later one overriding what an earlier one said;
// assign-formats makes of them what the device can do.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/value_type.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {

// On nodes that a decomposition made: the op of the model that it decomposed ("softmax"). Listings leave it out.
inline constexpr const char* kOriginalOpType = "original_op_type";
// The part of the model to which a node belongs, where the importer or the user says so.
inline constexpr const char* kLayer = "layer";

struct PrecisionRule {
  // What stands at an operand of a matching op. `ops_too`: also where an op gives it; otherwise inputs, parameters and constants only.
  struct InputFormat {
    DataFormat format = DataFormat::float16_b;
    bool ops_too = false;
    friend bool operator==(const InputFormat&, const InputFormat&) = default;
  };

  // Selectors. A node matches when all that are given do; without any, every node does.
  std::optional<std::string> op_type;     // of the node, or of the model's op that it stems from
  std::optional<std::string> name_regex;  // the whole name of the node, or of a node of the model that it stems from
  std::optional<std::string> layer;       // likewise, the tag `layer`
  std::optional<std::string> epoch_type;  // "Forward", "Backward", "Optimizer": the phase of a training step; a model has the first alone
  std::optional<bool> is_gradient_op;     // whether the op adds up the gradients of a step's batches

  // Actions.
  std::optional<DataFormat> output_df, intermediate_df, accumulate_df;
  std::optional<graph::MathFidelity> math_fidelity;
  std::optional<DataFormat> input_df;                   // of all operands, whatever gives them
  std::map<std::int64_t, InputFormat> input_dfs;        // by operand
  std::map<std::int64_t, std::int64_t> parameter_bits;  // of operands that are parameters: block floats of 8, 4 or 2 bits
  std::optional<std::int64_t> output_bits;              // likewise, of the node itself

  std::string title;           // for messages: "rule 2"
  bool given_by_user = false;  // not by a switch: what could not be granted is told
};

// A rule as a map in YAML's flow style, `{op_type: matmul, output_df: Bfp8_b}`, with the keys above, and besides
//   name_regex_match                      another name of name_regex
//   input_df                              a format, or {operand: format} or {operand: [format, ops_too]}
//   input_parameter_indices_to_optimize   [[operand, bits], …]
// Every mistake is named. The title is left empty.
Result<PrecisionRule> parse_precision_rule(std::string_view text);
// One rule, or a list of them in brackets.
Result<std::vector<PrecisionRule>> parse_precision_rules(std::string_view text);

// What stands for the switches, in formats with exponents of the given family (a or b); empty for level 0.
//   amp_light 1, 2   weights and biases of matmuls as Bfp8 (Bfp4) and HiFi2 (LoFi)
//   amp_level 1      all values Bfp8, but those of precise ops (ops::OpDef) 16-bit floats; matmuls HiFi2
std::vector<PrecisionRule> amp_light_rules(std::int64_t level);
std::vector<PrecisionRule> amp_level_rules(std::int64_t level, ExponentFamily family);
std::vector<PrecisionRule> bfp8_conversion_rules();

// The block format with so many bits per datum; the 16-bit float. `family`: a or b.
DataFormat block_format(std::int64_t bits, ExponentFamily family);
DataFormat half_format(ExponentFamily family);
// The format of the same width with exponents of the other family; formats without a family stay.
DataFormat in_family(DataFormat f, ExponentFamily family);
// A 16-bit float with the exponents of a block format; others stay.
DataFormat unblocked(DataFormat f);

// Whether a rule is for a node; an error when its expression takes too long on a name. Made once per rule: the expression is compiled.
using RuleSelector = std::function<bool(const graph::Node&)>;
Result<RuleSelector> selector(const PrecisionRule& rule);

}  // namespace buda::passes
