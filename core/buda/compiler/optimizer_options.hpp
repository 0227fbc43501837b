// SPDX-License-Identifier: Apache-2.0
// What the optimizer makes of a graph: its options, with the names that the PyBuda documents give them (docs/options.md).
#pragma once

#include <buda/graph/value_type.hpp>
#include <buda/passes/quantized/quantized_models.hpp>
#include <buda/schema/option_set.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::compiler {

// Texts are of the forms that --help shows; they are checked where an option is set by its name, and again by optimize().
struct OptimizerOptions {
  std::int64_t level = 1;
  std::optional<DataFormat> default_df;             // nothing: by element types
  std::optional<DataFormat> default_accumulate_df;  // nothing: by the inputs of each op
  graph::MathFidelity default_math_fidelity = graph::MathFidelity::hifi3;
  DataFormat fp32_fallback = DataFormat::float16_b;
  std::int64_t amp_light = 0, amp_level = 0;
  bool bfp8_conversion = false;
  std::vector<std::string> mixed_precision;  // rules, in order
  double accuracy = 0;                       // floor of the outputs' correlation, to which formats are raised; 0: as they are
  std::string calibrate;                     // file of inputs on which that is measured
  std::string expect;                        // file of the outputs that are expected of them; empty: those in fp32
  std::string accuracy_rules;                // file for the rules that raise it; empty: none
  passes::QuantizedModels quantized = passes::QuantizedModels::dequantize;
  bool enable_recompute = false;       // the same as recompute = segments
  std::int64_t recompute = 0;          // none, auto, full: a passes::Recompute
  double saved_limit = 0;              // MB; 0: none
  std::optional<bool> fold_constants;  // nothing, here and below: from the optimisation level on at which the pipeline does it
  bool stable_softmax = true;
  bool conv_prestride = true;
  std::optional<bool> auto_fusing, small_tiles;
  bool pool_surround = false;
  double pool_surround_value = 1.0;
  bool device_tilize = false;
  std::vector<std::string> dont_fuse;
  std::vector<std::string> manual_fuse;                                                     // each: names with commas between them
  std::vector<std::string> epoch_breaks, chip_breaks, schedule_constraints, intermediates;  // likewise
  std::vector<std::string> loopback_outputs;                                                // each: INPUT=OUTPUT
  bool link_past_caches = false;
  std::vector<std::string> queues, nops, fracture_groups, conv_fractures;  // as option_values.hpp reads them
  bool cpu_fallback = true;
  std::string cpu_fallback_ops = "embedding";  // names with commas between them
  std::vector<std::string> cpu_fallback_nodes;
  bool tm_cpu_fallback = false;
  std::int64_t tm_cpu_fallback_max_depth = 10;
};

// Declares every option, under the headings of --help.
void declare(schema::OptionSet& set, OptimizerOptions& options);

}  // namespace buda::compiler

#pragma GCC visibility pop
