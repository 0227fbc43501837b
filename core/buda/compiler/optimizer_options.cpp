// SPDX-License-Identifier: Apache-2.0
// Declaration of the optimizer's options.
#include <buda/compiler/optimizer_options.hpp>

#include <buda/compiler/option_values.hpp>
#include <buda/passes/formats/precision_rules.hpp>

namespace buda::compiler {
namespace {

// Whether a reader of values with several parts takes the text.
template <class Reader>
std::function<Result<void>(const std::string&)> read_by(Reader reader) {
  return [reader](const std::string& text) -> Result<void> {
    BUDA_TRY(reader(text));
    return success();
  };
}

std::string name_of(const std::optional<DataFormat>& format) { return format ? std::string(format_name(*format)) : ""; }

// An option for a data format; `Format` is one, or perhaps one.
template <class Format>
schema::BoundOption& declare_format(schema::OptionSet& set, std::string name, Format& target, std::string summary) {
  const auto store = [&target](const std::string& text) {
    if (auto format = format_from_name(text)) target = *format;
  };
  return set.parsed(std::move(name), name_of(target), "FORMAT", std::move(summary), read_by(format_from_name), store);
}

void declare_formats(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Data formats");
  declare_format(set, "default-df-override", o.default_df,
                 "format of values, parameters and constants; default: Float16 for element type F16, Float16_b for all others")
      .also("--default-df")
      .known_as("default-df")
      .environment("PYBUDA_DEFAULT_DF");
  declare_format(set, "default-accumulate-df", o.default_accumulate_df,
                 "format of the destination register; default: the width of each op's first input")
      .known_as("accumulate_df");
  set.choice("default-math-fidelity", o.default_math_fidelity, {"LoFi", "HiFi2", "HiFi3", "HiFi4"},
             "passes over the mantissas in a multiplication")
      .known_as("math_fidelity");
  set.choice("amp-light", o.amp_light, {"0", "1", "2"}, "weights and biases of matmuls: 1: as Bfp8, with HiFi2; 2: as Bfp4, with LoFi")
      .environment("PYBUDA_AMP_LIGHT");
  set.choice("amp-level", o.amp_level, {"0", "1", "2"},
             "1: all values as Bfp8_b, except 16-bit floats in softmax, layernorm and fused ops; matmuls with HiFi2; 2: the same with "
             "5-bit exponents")
      .environment("PYBUDA_AMP_LEVEL");
  set.flag("enable-bfp8-conversion", o.bfp8_conversion, "keep all parameters as Bfp8");
  set.texts(
         "configure-mixed-precision", o.mixed_precision, "RULE",
         "formats for some nodes, as {op_type: matmul, output_df: Bfp8_b}; a later rule overrides; docs/tools/optimizer.md lists the keys")
      .known_as("amp_properties")
      .checked_by([](const std::string& text) -> Result<void> {
        BUDA_TRY(passes::parse_precision_rules(text));
        return success();
      });
  set.choice(
      "quantized", o.quantized, {"dequantize", "int8", "host"},
      "quantised models: dequantize: compute with the real numbers that their integers stand for, without rounding; int8: likewise, "
      "but products of matrices and convolutions in Int8, where the device has it and they allow it; host: run their ops as they are, "
      "on the host");
  declare_format(set, "fp32-fallback", o.fp32_fallback, "format that replaces Float32 on a device that does not compute in it");
}

void declare_accuracy(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Accuracy");
  set.real("accuracy", o.accuracy, "R",
           "raise formats, accumulation and fidelity of the ops that lose most, until the outputs' correlation is at least R; 0: of none")
      .range(0, 1);
  set.path("calibrate", o.calibrate, "FILE", "inputs on which accuracy is measured: .npz or .safetensors, by name");
  set.path("expect", o.expect, "FILE", "outputs that are expected of them; default: those of the model in fp32");
  set.path("accuracy-rules", o.accuracy_rules, "FILE", "write what is raised as rules of configure-mixed-precision, for --config");
}

void declare_model(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Simplifying and fusing");
  set.flag("enable-consteval", o.fold_constants,
           "evaluate ops on parameters and constants before lowering: pass constant-folding; default: from -O1 on");
  set.flag("enable-stable-softmax", o.stable_softmax,
           "subtract the maximum in softmax and log-softmax, so that large numbers do not overflow");
  set.flag("enable-conv-prestride", o.conv_prestride,
           "let the host rearrange model inputs of strided convolutions: the positions within a stride become channels");
  set.flag("max-pool-add-sub-surround", o.pool_surround,
           "add a number before maximum pools and subtract it after them; not needed for correct results");
  set.real("max-pool-add-sub-surround-value", o.pool_surround_value, "R", "that number");
  set.flag("enable-device-tilize", o.device_tilize,
           "convert the model's inputs to tiles on the device instead of the host: pass tilize-on-device");
  set.flag("enable-auto-fusing", o.auto_fusing, "fuse elementwise ops: pass fuse-ops; default: from -O2 on");
  set.flag("enable-small-tiles", o.small_tiles,
           "keep values of up to 16 rows in tiles of 1, 2, 4, 8 or 16 rows: pass small-tiles; default: from -O2 on")
      .known_as("enable_tiny_tile")
      .environment("PYBUDA_ENABLE_TINY_TILE");
  set.texts("op-names-dont-fuse", o.dont_fuse, "OP", "do not fuse this op").known_as("dont_fuse");
  set.texts("op-names-manual-fuse", o.manual_fuse, "A,B,C",
            "fuse these ops, at every level; if this option is given, no other ops are fused");
  set.group("Splitting ops");
  set.texts("insert-fracture-group", o.fracture_groups, "GROUP",
            "split these ops into ops that compute one part each: [[NAME, AXIS, FACTOR], ...]; axis k is a product's inner dimension")
      .known_as("fracture_groups")
      .checked_by(read_by(fracture_groups));
  set.texts("override-multi-op-fracture-factor", o.conv_fractures, "CONV,FACTOR",
            "split this convolution along the rows of its window into FACTOR convolutions whose results are added; -1: one per row")
      .known_as("conv_multi_op_fracture_factor_override")
      .checked_by(read_by(fracture_factors));
}

void declare_constraints(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Constraints for the balancer");
  set.texts("op-names-to-epoch-break", o.epoch_breaks, "OP", "begin an epoch with this op of the model").known_as("place_on_new_epoch");
  set.texts("op-names-to-chip-break", o.chip_breaks, "OP", "begin a chip with this op").known_as("place_on_new_chip");
  set.texts("scheduler-constraints", o.schedule_constraints, "A,B,C", "schedule these ops in this order")
      .known_as("add_schedule_constraint");
  set.texts("insert-queues", o.queues, "A,B,N", "insert a queue in DRAM between op A and input N of op B; without N: all its inputs from A")
      .checked_by(read_by(queue_requests));
  set.texts("insert-buffering-nop", o.nops, "A,B,C", "insert a nop that buffers data between op A and the ops B, C, ...")
      .known_as("insert_nop")
      .known_as("buffering_nops_to_insert")
      .checked_by(read_by(nop_requests));
  set.texts("op-intermediates-to-save", o.intermediates, "OP", "add an output with this op's result to the model");
}

void declare_training(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Training steps");
  set.choice("recompute", o.recompute, {"none", "auto", "full"},
             "values of the forward phase that the backward phase computes again, so that less is kept for it: auto: formulas of elements, "
             "as far as that keeps fewer bytes; full: whole parts of the model, products included");
  set.flag("enable-recompute", o.enable_recompute, "the same as --recompute full");
  set.real("saved-limit", o.saved_limit, "MB",
           "keep at most this for the backward phase of one batch: where --recompute keeps more, further parts are computed again; 0: no "
           "limit")
      .at_least(0);
}

void declare_state(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("State between steps");
  set.texts("loopback-outputs", o.loopback_outputs, "INPUT=OUTPUT",
            "from the second step on, this input is this output of the previous step, given by name or index; in a config file a map");
  set.flag(
      "enable-link-past-cache-ios", o.link_past_caches,
      "find outputs that are inputs of the next step, such as caches of keys and values: by data flow, and by past and present in names");
}

void declare_fallback(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("CPU fallback");
  set.flag("enable-cpu-fallback", o.cpu_fallback,
           "run ops that the device cannot execute, and those of --cpu-fallback-ops, on the host: pass cpu-fallback; otherwise they are "
           "errors")
      .known_as("enable_tvm_cpu_fallback");
  set.text("cpu-fallback-ops", o.cpu_fallback_ops, "A,B,C",
           "op types that run on the host, by the names of OpenBuda, Relay or PyBuda; embedding: table look-ups at run time; empty: none");
  set.texts("cpu-fallback-nodes", o.cpu_fallback_nodes, "NODE",
            "run this node of the graph or of the model, or one that a decomposition makes, on the host");
  set.flag("enable-tm-cpu-fallback", o.tm_cpu_fallback,
           "run data movements near inputs and outputs, and elementwise ops between them, on the host; needs --enable-cpu-fallback");
  set.integer("tm-cpu-fallback-max-depth", o.tm_cpu_fallback_max_depth, "N",
              "maximum number of ops between such a data movement and the input or output")
      .at_least(0);
}

}  // namespace

void declare(schema::OptionSet& set, OptimizerOptions& o) {
  set.choice("opt-level", o.level, {"0", "1", "2"},
             "0: only what lowering requires; 1: simplify and fold; 2: also fuse ops, and rewrites that change rounding")
      .also("-O");
  declare_formats(set, o);
  declare_accuracy(set, o);
  declare_model(set, o);
  declare_constraints(set, o);
  declare_state(set, o);
  declare_training(set, o);
  declare_fallback(set, o);
}

}  // namespace buda::compiler
