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

void declare_formats(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Data formats");
  set.text("default-df-override", o.default_df, "FORMAT",
           "format of values, parameters and constants; default: by their element types, Float16_b but for F16, which is Float16")
      .also("--default-df")
      .known_as("default-df")
      .environment("PYBUDA_DEFAULT_DF");
  set.text("default-accumulate-df", o.default_accumulate_df, "FORMAT",
           "format of the destination register; default: by each op's first input")
      .known_as("accumulate_df");
  set.choice("default-math-fidelity", o.default_math_fidelity, {"LoFi", "HiFi2", "HiFi3", "HiFi4"},
             "passes over the mantissas in a multiplication")
      .known_as("math_fidelity");
  set.choice("amp-light", o.amp_light, {"0", "1", "2"}, "weights and biases of matmuls: 1: as Bfp8, with HiFi2; 2: as Bfp4, with LoFi")
      .environment("PYBUDA_AMP_LIGHT");
  set.choice(
         "amp-level", o.amp_level, {"0", "1", "2"},
         "1: all values as Bfp8_b, but 16-bit floats in softmax, layernorm and fused ops, matmuls with HiFi2; 2: with exponents of 5 bits")
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
  set.text("fp32-fallback", o.fp32_fallback, "FORMAT", "what Float32 becomes on a device that does not compute in it");
}

void declare_model(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Simplifying and fusing");
  set.flag("enable-consteval", o.fold_constants,
           "compute what depends on parameters and constants alone before lowering: pass constant-folding; default: from -O1 on");
  set.flag("enable-stable-softmax", o.stable_softmax,
           "subtract the maximum in softmax and log-softmax, so that large numbers do not overflow");
  set.flag("enable-conv-prestride", o.conv_prestride,
           "let the host put the elements of a stride side by side where a convolution with stride reads a model input");
  set.flag("max-pool-add-sub-surround", o.pool_surround,
           "add a number before maximum pools and subtract it after them; not needed, since padding never hides negative numbers here");
  set.real("max-pool-add-sub-surround-value", o.pool_surround_value, "R", "that number");
  set.flag("enable-device-tilize", o.device_tilize,
           "let the device cut the model's inputs into tiles, which the host does otherwise: pass tilize-on-device");
  set.flag("enable-auto-fusing", o.auto_fusing, "make fused ops of elementwise ops: pass fuse-ops; default: from -O2 on");
  set.flag("enable-small-tiles", o.small_tiles, "keep values of up to 16 rows in tiles of as many: pass small-tiles; default: from -O2 on")
      .known_as("enable_tiny_tile")
      .environment("PYBUDA_ENABLE_TINY_TILE");
  set.texts("op-names-dont-fuse", o.dont_fuse, "OP", "keep this op out of fused ops").known_as("dont_fuse");
  set.texts("op-names-manual-fuse", o.manual_fuse, "A,B,C",
            "fuse these ops with each other, at every level; ops that are in no such list are not fused then");
  set.group("Splitting ops");
  set.texts("insert-fracture-group", o.fracture_groups, "GROUP",
            "split these ops into some that compute a part each: [[NAME, AXIS, FACTOR], ...]; axis k is a product's inner dimension")
      .known_as("fracture_groups")
      .checked_by(read_by(fracture_groups));
  set.texts("override-multi-op-fracture-factor", o.conv_fractures, "CONV,FACTOR",
            "split this convolution along the rows of its window into FACTOR ones whose results are added; -1: one for each row")
      .known_as("conv_multi_op_fracture_factor_override")
      .checked_by(read_by(fracture_factors));
}

void declare_constraints(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("Constraints for the balancer");
  set.texts("op-names-to-epoch-break", o.epoch_breaks, "OP", "begin an epoch with this op of the model").known_as("place_on_new_epoch");
  set.texts("op-names-to-chip-break", o.chip_breaks, "OP", "begin a chip with this op").known_as("place_on_new_chip");
  set.texts("scheduler-constraints", o.schedule_constraints, "A,B,C", "schedule these ops in this order")
      .known_as("add_schedule_constraint");
  set.texts("insert-queues", o.queues, "A,B,N", "put a queue in DRAM between op A and input N of op B; without N: all its inputs from A")
      .checked_by(read_by(queue_requests));
  set.texts("insert-buffering-nop", o.nops, "A,B,C", "put a nop that holds data between op A and the ops B, C, ...")
      .known_as("insert_nop")
      .known_as("buffering_nops_to_insert")
      .checked_by(read_by(nop_requests));
  set.texts("op-intermediates-to-save", o.intermediates, "OP", "give the graph an output with this op's result");
}

void declare_state(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("What stays on the device between steps");
  set.texts("loopback-outputs", o.loopback_outputs, "INPUT=OUTPUT",
            "from the second step on this input is that output of the step before, by its name or number; in a config file a map");
  set.flag("enable-link-past-cache-ios", o.link_past_caches,
           "find outputs that are the next step's inputs, as caches of keys and values: by data flow, and by past and present in "
           "names");
}

void declare_fallback(schema::OptionSet& set, OptimizerOptions& o) {
  set.group("The host's part");
  set.flag("enable-cpu-fallback", o.cpu_fallback,
           "run on the host what the device cannot do and what --cpu-fallback-ops names: pass cpu-fallback; otherwise it is an error")
      .known_as("enable_tvm_cpu_fallback");
  set.text("cpu-fallback-ops", o.cpu_fallback_ops, "A,B,C",
           "types of ops that run on the host, as here or as Relay or PyBuda call them; embedding: look-ups in tables; empty: none");
  set.texts("cpu-fallback-nodes", o.cpu_fallback_nodes, "NODE", "run this node of the graph, or of the model, on the host");
  set.flag("enable-tm-cpu-fallback", o.tm_cpu_fallback,
           "run movements of data near inputs and outputs on the host, and elementwise ops between them; needs --enable-cpu-fallback");
  set.integer("tm-cpu-fallback-max-depth", o.tm_cpu_fallback_max_depth, "N", "most ops between such a movement and the input or output")
      .at_least(0);
}

}  // namespace

void declare(schema::OptionSet& set, OptimizerOptions& o) {
  set.choice("opt-level", o.level, {"0", "1", "2"},
             "0: only what lowering needs; 1: simplify, fold and fuse; 2: also fused ops, and where rounding changes")
      .also("-O");
  declare_formats(set, o);
  declare_model(set, o);
  declare_constraints(set, o);
  declare_state(set, o);
  declare_fallback(set, o);
}

}  // namespace buda::compiler
