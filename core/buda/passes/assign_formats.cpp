// assign-formats: the data format of every value on the device, and in which formats and how precisely every op computes.
//
// before                                            after
//   w = parameter : F32 [1, 1, 64, 32]                w = parameter : F32 [1, 1, 64, 32] Float16_b
//   y = matmul(x, w) : F32 [1, 1, 64, 32]             y = matmul(x, w) : F32 [1, 1, 64, 32] Float16_b
//                                                       intermediate Float16_b, accumulate Float16_b, HiFi3
//
// The order of decisions, each on top of those before:
//   1. Every value takes the standard format (--default-df), but one that has a format already keeps it. Float32 becomes the fallback
//      where the device cannot accumulate in it.
//   2. Values of wide range (a mask's very negative padding, tag `wide_range`) are no block floats, whose neighbours share an exponent: a
//      16-bit float of the same family instead.
//   3. A nop gives what it is given. A maximum over z takes and gives one format.
//   4. Values that the model gives out are no block floats: the host reads datums, not blocks.
//   5. Accumulate: the wish (--default-accumulate-df) if the device can; else by input 0: Float32 for Float32, Float16 for the formats
//      with exponents of 5 bits, Float16_b for the others. Intermediate: the same.
//   6. Fidelity: the wish (--default-math-fidelity).
//   7. What the device cannot hold is an error.
#include <buda/passes/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/passes/lowering_tags.hpp>

#include <algorithm>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueType;

// A 16-bit float with the exponents of a block format.
DataFormat unblocked(DataFormat f) {
  if (!is_bfp(f)) return f;
  return exponent_family(f) == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b;
}

bool is_accumulator(DataFormat f) { return f == DataFormat::float32 || f == DataFormat::float16 || f == DataFormat::float16_b; }

std::string format_list(const std::vector<DataFormat>& formats) {
  std::vector<std::string> names;
  for (DataFormat f : formats) names.emplace_back(format_name(f));
  return join(names, ", ");
}

class Formats {
 public:
  Formats(Graph& graph, PassContext& context) : graph_(graph), context_(context), device_(*context.device) {}

  Result<PassReport> run() {
    BUDA_TRY(settle_wishes());
    std::vector<NodeId> order = graph_.topological_order();
    for (NodeId id : order) choose_output(graph_.node(id));
    for (NodeId id : graph_.outputs()) unblock_output(id);
    for (NodeId id : order)
      if (graph_.node(id).is_op()) choose_precision(graph_.node(id));
    BUDA_TRY(check(order));
    return report_;
  }

 private:
  // What of the options the device can do.
  Result<void> settle_wishes() {
    standard_ = context_.formats.standard;
    accumulate_ = context_.formats.accumulate;
    if (!is_float(standard_))
      return usage_error("PA030", cat("the standard format ", format_name(standard_), " is not a floating-point format"));
    if (standard_ == DataFormat::float32 && !device_.features.fp32_accumulate) {
      standard_ = context_.formats.fp32_fallback;
      context_.host.report(
          warning("PA031", {},
                  cat("device '", device_.name, "' does not compute in Float32; values are kept in ", format_name(standard_), " instead")));
    }
    if (!device_.supports(standard_))
      return usage_error(
          "PA030", cat("device '", device_.name, "' has no format ", format_name(standard_), "; it has ", format_list(device_.formats)));
    if (!accumulate_) return success();
    bool possible = is_accumulator(*accumulate_) && (*accumulate_ != DataFormat::float32 || device_.features.fp32_accumulate);
    if (possible) return success();
    context_.host.report(warning("PA032", {},
                                 cat("device '", device_.name, "' does not accumulate in ", format_name(*accumulate_),
                                     "; the format is chosen by the inputs of each op instead")));
    accumulate_.reset();
    return success();
  }

  void set_format(ValueType& type, DataFormat f) {
    if (type.format == f) return;
    type.format = f;
    ++report_.rewrites;
  }

  std::optional<DataFormat> input_format(const Node& n, std::size_t input) const {
    const ValueType* type = input < n.inputs().size() ? graph_.type(n.inputs()[input].source) : nullptr;
    return type == nullptr ? std::nullopt : type->format;
  }

  void choose_output(Node& n) {
    for (ValueType& type : n.outputs) {
      if (type.format) continue;
      DataFormat f = standard_;
      if (is_copy(n)) f = input_format(n, 0).value_or(f);
      if (n.tags.contains(kWideRange)) f = unblocked(f);
      set_format(type, f);
    }
    if (n.op() != "reduce" || !is_along_z(n)) return;
    if (auto in = input_format(n, 0)) set_format(n.outputs[0], *in);
  }

  static bool is_copy(const Node& n) { return n.op() == "nop" || n.op() == "datacopy"; }
  static bool is_along_z(const Node& n) {
    auto it = n.attrs.find("dim");
    return it != n.attrs.end() && it->second == graph::Attr(std::string("z"));
  }

  void unblock_output(NodeId id) {
    graph::ValueRef source = graph_.node(id).inputs()[0].source;
    ValueType& type = graph_.node(source.node).outputs[source.port];
    if (type.format) set_format(type, unblocked(*type.format));
  }

  DataFormat accumulator_for(const Node& n) const {
    if (accumulate_) return *accumulate_;
    DataFormat in = input_format(n, 0).value_or(standard_);
    if (in == DataFormat::float32 && device_.features.fp32_accumulate) return DataFormat::float32;
    return exponent_family(in) == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b;
  }

  void choose_precision(Node& n) {
    graph::Precision chosen = n.precision;
    if (!chosen.accumulate) chosen.accumulate = accumulator_for(n);
    if (!chosen.intermediate) chosen.intermediate = n.op() == "reduce" && is_along_z(n) ? n.outputs[0].format : chosen.accumulate;
    if (!chosen.fidelity) chosen.fidelity = context_.formats.fidelity;
    if (chosen == n.precision) return;
    n.precision = chosen;
    ++report_.rewrites;
  }

  Result<void> check(const std::vector<NodeId>& order) const {
    Failure failure;
    for (NodeId id : order) {
      const Node& n = graph_.node(id);
      auto wrong = [&](std::string_view what, DataFormat f, const std::string& why) {
        Diagnostic d = input_error("PA033", n.loc, cat("node '", n.name(), "': ", what, ' ', format_name(f), ' ', why));
        d.node = n.name();
        failure.add(std::move(d));
      };
      for (const ValueType& type : n.outputs)
        if (!device_.supports(*type.format))
          wrong("format", *type.format, cat("is none of device '", device_.name, "': ", format_list(device_.formats)));
      if (!n.is_op()) continue;
      DataFormat acc = *n.precision.accumulate;
      if (acc == DataFormat::float32 && !device_.features.fp32_accumulate)
        wrong("accumulation in", acc, cat("is not possible on device '", device_.name, '\''));
      check_families(n, wrong);
    }
    if (!failure.empty()) return failure;
    return success();
  }

  // A tile op reads exponents of one width only.
  template <class Wrong>
  void check_families(const Node& n, const Wrong& wrong) const {
    ExponentFamily family = ExponentFamily::none;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      auto f = input_format(n, i);
      ExponentFamily of_input = f ? exponent_family(*f) : ExponentFamily::none;
      if (of_input == ExponentFamily::none) continue;
      if (family != ExponentFamily::none && family != of_input)
        wrong(cat("input ", i, " in"), *f, "mixes exponents of 5 and of 8 bits with the inputs before it; give them formats of one family");
      family = of_input;
    }
  }

  Graph& graph_;
  PassContext& context_;
  const device::DeviceDescriptor& device_;
  PassReport report_;
  DataFormat standard_ = DataFormat::float16_b;
  std::optional<DataFormat> accumulate_;
};

Result<PassReport> run(Graph& graph, PassContext& context) { return Formats(graph, context).run(); }

}  // namespace

const Pass kAssignFormats = {.name = "assign-formats",
                             .summary = "choose data formats, accumulation and math fidelity of all values and ops",
                             .level = graph::Level::device,
                             .needs_device = true,
                             .run = run};

}  // namespace buda::passes
