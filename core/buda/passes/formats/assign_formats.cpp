// assign-formats: the data format of every value on the device, and in which formats and how precisely every op computes.
//
// before                                            after
//   w = parameter : F32 [1, 1, 64, 32]                w = parameter : F32 [1, 1, 64, 32] Float16_b
//   y = matmul(x, w) : F32 [1, 1, 64, 32]             y = matmul(x, w) : F32 [1, 1, 64, 32] Float16_b
//                                                       intermediate Float16_b, accumulate Float16_b, HiFi3
//
// The order of decisions, each on top of those before:
//   1. Wishes. Rules of mixed precision (precision_rules.hpp) wish for formats, in their order. A value without a wish keeps the format
//      that it has; without one it takes the standard format (--default-df-override), else that of its element type: Float16_b, for F16
//      Float16. Float32 becomes the fallback where the device cannot accumulate in it. A nop gives what it is given.
//   2. No block floats where datums must stand alone: values of wide range (a mask's very negative padding, tag `wide_range`, whose
//      neighbours share an exponent) and values that the model gives out (the host reads datums). A 16-bit float of the same family
//      instead.
//   3. One format where an op needs it: a maximum over z takes and gives the same, as do an output and the input that it is in the next
//      step; the most precise of those wished for.
//   4. One exponent family for values that an op reads together. Values tied so form classes; a format that the graph came with decides
//      the family of its class, else the majority of the wishes in it, else the standard. The others change to the format of the same
//      width, and what became of a rule's wish is told. Chips that cannot change the family while a matmul accumulates tie its result too.
//   5. Accumulate: the wish (rules, then --default-accumulate-df) if the device can; else by input 0: Float32 for Float32, Int32 for
//      integers, Float16 for exponents of 5 bits, Float16_b for the others. Intermediate: the wish, or the same; a matmul's is not narrower
//      than 8 bits, since it is read back and added to.
//   6. Fidelity: the wish (rules, then --default-math-fidelity); integers take HiFi4.
//   7. What the device cannot hold is an error.
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/loopback.hpp>
#include <buda/graph/placement.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/layout/node_classes.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

#include <algorithm>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueType;

bool is_accumulator(DataFormat f) { return f == DataFormat::float32 || f == DataFormat::float16 || f == DataFormat::float16_b; }
bool is_coarse(DataFormat f) { return is_bfp(f) && bits_per_datum(f) < 8; }

std::string format_list(const std::vector<DataFormat>& formats) {
  std::vector<std::string> names;
  for (DataFormat f : formats) names.emplace_back(format_name(f));
  return join(names, ", ");
}

bool is_tilizer(const Node& n) { return n.op() == "tilizer"; }
bool is_copy(const Node& n) {
  const ops::DeviceOp* op = ops::find_device_op(n.op());
  return op != nullptr && ops::class_info(op->op_class).copies;
}

bool is_z_maximum(const Node& n) {
  if (n.op() != "reduce") return false;
  auto it = n.attrs.find("dim");
  return it != n.attrs.end() && it->second == graph::Attr(std::string("z"));
}

// Values from the host come in as those of inputs do.
bool computes(const Node& n) { return n.is_op() && n.op() != graph::kToDevice; }

// In topological order; what the host computes has no format.
std::vector<NodeId> device_nodes(const Graph& graph) {
  std::vector<NodeId> order = graph.topological_order();
  std::erase_if(order, [&](NodeId id) { return graph::on_host(graph, graph.node(id)); });
  return order;
}

constexpr std::size_t kNoFormatRule = static_cast<std::size_t>(-1);

// What the rules wish for a node.
struct Wish {
  std::optional<DataFormat> output, intermediate, accumulate;
  std::optional<graph::MathFidelity> fidelity;
  std::size_t rule = kNoFormatRule;  // that wished for the output
};

class Formats {
 public:
  Formats(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        device_(*context.device),
        order_(device_nodes(graph)),
        wishes_(graph.id_bound()),
        fixed_(graph.id_bound(), 0),
        chosen_(graph.id_bound(), DataFormat::invalid) {
    half_model_ = std::any_of(order_.begin(), order_.end(), [&](NodeId id) {
      const Node& n = graph_.node(id);
      return !n.outputs.empty() && model_type(n) == DType::f16;
    });
  }

  Result<PassReport> run() {
    BUDA_TRY(settle_standard());
    BUDA_ASSIGN(state_, graph::loopbacks(graph_));
    std::erase_if(state_, [&](const graph::Loopback& l) { return graph::on_host(graph_.node(l.input)); });
    for (std::size_t i = 0; i < context_.formats.rules.size(); ++i) BUDA_TRY(apply_rule(i));
    for (NodeId id : order_) choose_output(graph_.node(id));
    for (NodeId id : graph_.ids())
      // Rows of datums, which have no blocks: what the host takes, and what it gives without making tiles of it.
      if (graph_.node(id).kind() == NodeKind::output || graph_.node(id).op() == graph::kToHost || is_tilizer(graph_.node(id)))
        unblock(graph_.node(id).inputs()[0].source.node);
    level_formats();
    level_families();
    for (NodeId id : order_)
      for (ValueType& type : graph_.node(id).outputs) set_format(type, chosen_[id.index()]);
    for (NodeId id : order_)
      if (computes(graph_.node(id))) choose_precision(graph_.node(id));
    BUDA_TRY(check());
    tell_changes();
    return report_;
  }

 private:
  // ---- wishes

  // What of the options the device can do.
  Result<void> settle_standard() {
    const FormatOptions& o = context_.formats;
    standard_ = o.standard;
    accumulate_ = o.accumulate;
    if (standard_ && !is_float(*standard_))
      return usage_error("PA030", cat("the standard format ", format_name(*standard_), " is not a floating-point format"));
    if (standard_ == DataFormat::float32 && !device_.features.fp32_accumulate) {
      standard_ = o.fp32_fallback;
      context_.host.report(warning(
          "PA031", {},
          cat("device '", device_.name, "' does not compute in Float32; values are kept in ", format_name(*standard_), " instead")));
    }
    if (standard_ && !device_.supports(*standard_))
      return usage_error(
          "PA030", cat("device '", device_.name, "' has no format ", format_name(*standard_), "; it has ", format_list(device_.formats)));
    if (standard_ && exponent_family(*standard_) != ExponentFamily::none) family_ = exponent_family(*standard_);
    if (!accumulate_ || can_accumulate(*accumulate_)) return success();
    context_.host.report(warning("PA032", {},
                                 cat("device '", device_.name, "' does not accumulate in ", format_name(*accumulate_),
                                     "; the format is chosen by the inputs of each op instead")));
    accumulate_.reset();
    return success();
  }

  bool can_accumulate(DataFormat f) const { return is_accumulator(f) && (f != DataFormat::float32 || device_.features.fp32_accumulate); }

  Result<void> check_rule(const PrecisionRule& rule) const {
    auto wish = [&](const std::optional<DataFormat>& f) -> Result<void> {
      if (!f || device_.supports(*f)) return success();
      return usage_error("PA034", cat(rule.title, ": device '", device_.name, "' has no format ", format_name(*f), "; it has ",
                                      format_list(device_.formats)));
    };
    BUDA_TRY(wish(rule.output_df));
    BUDA_TRY(wish(rule.intermediate_df));
    BUDA_TRY(wish(rule.input_df));
    for (const auto& [operand, input] : rule.input_dfs) BUDA_TRY(wish(input.format));
    for (const auto& [operand, bits] : rule.parameter_bits) BUDA_TRY(wish(block_format(bits, family_)));
    if (rule.output_bits) BUDA_TRY(wish(block_format(*rule.output_bits, family_)));
    if (rule.intermediate_df && !is_float(*rule.intermediate_df))
      return usage_error("PA034",
                         cat(rule.title, ": intermediate_df ", format_name(*rule.intermediate_df), " is not a floating-point format"));
    if (rule.accumulate_df && !can_accumulate(*rule.accumulate_df))
      return usage_error("PA034",
                         cat(rule.title, ": device '", device_.name, "' does not accumulate in ", format_name(*rule.accumulate_df)));
    return success();
  }

  Result<void> apply_rule(std::size_t index) {
    const PrecisionRule& rule = context_.formats.rules[index];
    BUDA_TRY(check_rule(rule));
    BUDA_ASSIGN(RuleSelector matches, selector(rule));
    bool found = false;
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (n.kind() == NodeKind::output || !matches(n)) continue;
      found = true;
      if (rule.output_df) wish_output(id, *rule.output_df, index);
      if (rule.output_bits) wish_output(id, block_format(*rule.output_bits, family_), index);
      if (!computes(n)) continue;
      Wish& wish = wishes_[id.index()];
      if (rule.intermediate_df) wish.intermediate = rule.intermediate_df;
      if (rule.accumulate_df) wish.accumulate = rule.accumulate_df;
      if (rule.math_fidelity) wish.fidelity = rule.math_fidelity;
      wish_inputs(n, rule, index);
    }
    if (!found && rule.given_by_user) context_.host.report(warning("PA036", {}, cat(rule.title, " is for no node of the graph")));
    return success();
  }

  void wish_inputs(const Node& n, const PrecisionRule& rule, std::size_t index) {
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      NodeId source = n.inputs()[i].source.node;
      NodeKind kind = graph_.node(source).kind();
      auto operand = static_cast<std::int64_t>(i);
      if (rule.input_df) wish_output(source, *rule.input_df, index);
      if (auto it = rule.input_dfs.find(operand); it != rule.input_dfs.end() && (kind != NodeKind::op || it->second.ops_too))
        wish_output(source, it->second.format, index);
      if (auto it = rule.parameter_bits.find(operand); it != rule.parameter_bits.end() && kind == NodeKind::parameter)
        wish_output(source, block_format(it->second, family_), index);
    }
  }

  void wish_output(NodeId id, DataFormat f, std::size_t rule) {
    const Node& n = graph_.node(id);
    // Integers are indices and codes, which floating-point formats do not hold.
    if (n.outputs.empty() || is_float(n.outputs[0].dtype) != is_float(f)) return;
    wishes_[id.index()].output = f;
    wishes_[id.index()].rule = rule;
  }

  // ---- outputs

  void choose_output(const Node& n) {
    if (n.outputs.empty()) return;
    const Wish& wish = wishes_[n.id().index()];
    DataFormat& f = chosen_[n.id().index()];
    if (wish.output) {
      f = *wish.output;
    } else if (n.outputs[0].format) {
      f = *n.outputs[0].format;
      fixed_[n.id().index()] = 1;
      return;
    } else {
      f = is_copy(n) ? chosen_[n.inputs()[0].source.node.index()] : natural_format(n);
    }
    if (n.tags.contains(kWideRange)) f = unblocked(f);
    if (is_exact(n)) f = DataFormat::float32;
  }

  bool is_exact(const Node& n) const {
    return n.tags.contains(kExact) && device_.supports(DataFormat::float32) && device_.features.fp32_accumulate;
  }

  DataFormat natural_format(const Node& n) const {
    DType dtype = n.outputs[0].dtype;
    if (!is_float(dtype)) {
      if (dtype == DType::i8) return DataFormat::int8;
      if (dtype == DType::u8) return DataFormat::uint8;
      return only_indexes(n) ? DataFormat::raw_uint32 : DataFormat::int32;
    }
    // A whole number of the model that 16-bit floats do not hold.
    DType model = model_type(n);
    bool wide = is_integer(model) && dtype_size(model) > 1 && !computes(n);
    if (wide && device_.supports(DataFormat::float32) && device_.features.fp32_accumulate) return DataFormat::float32;
    if (standard_) return *standard_;
    return (dtype == DType::f16 || half_model_) && device_.supports(DataFormat::float16) ? DataFormat::float16 : DataFormat::float16_b;
  }

  // The element type that a value has in the model, where that is known.
  static DType model_type(const Node& n) {
    if (n.value) return n.value->tensor.dtype();
    return ops::border_type(n, n.outputs[0].dtype);
  }

  bool only_indexes(const Node& n) const {
    auto users = graph_.users(n.id());
    return !users.empty() && std::all_of(users.begin(), users.end(), [&](const graph::Use& use) {
      const Node& user = graph_.node(use.node);
      return user.op() == "embedding" || (ops::is_sparse_product(user) && use.input == 0);
    });
  }

  void unblock(NodeId id) {
    if (!graph::on_host(graph_.node(id))) chosen_[id.index()] = unblocked(chosen_[id.index()]);
  }

  DataFormat input_format(const Node& n, std::size_t input) const {
    return input < n.inputs().size() ? chosen_[n.inputs()[input].source.node.index()] : DataFormat::invalid;
  }

  // ---- agreement

  void level_formats() {
    NodeClasses same(graph_.id_bound());
    std::vector<NodeId> tied;
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (!is_z_maximum(n)) continue;
      same.join(id, n.inputs()[0].source.node);
      tied.push_back(n.inputs()[0].source.node);
      tied.push_back(id);
    }
    for (const graph::Loopback& l : state_) {
      NodeId made = graph_.node(l.output).inputs()[0].source.node;
      same.join(l.input, made);
      tied.push_back(l.input);
      tied.push_back(made);
    }
    std::sort(tied.begin(), tied.end());
    tied.erase(std::unique(tied.begin(), tied.end()), tied.end());
    for (const auto& [root, members] : same.classes(tied)) {
      DataFormat most = chosen_[members[0].index()];
      for (NodeId id : members)
        if (bits_per_datum(chosen_[id.index()]) > bits_per_datum(most)) most = chosen_[id.index()];
      for (NodeId id : members) chosen_[id.index()] = most;
    }
  }

  void level_families() {
    NodeClasses tied(graph_.id_bound());
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (!computes(n)) continue;
      NodeId first;
      for (const graph::Edge& edge : n.inputs()) {
        if (exponent_family(chosen_[edge.source.node.index()]) == ExponentFamily::none) continue;
        if (first.valid()) tied.join(first, edge.source.node);
        first = edge.source.node;
      }
      bool keeps = is_z_maximum(n) || (n.op() == "matmul" && !device_.features.mixed_exponents_matmul);
      if (keeps && first.valid() && exponent_family(chosen_[id.index()]) != ExponentFamily::none) tied.join(first, id);
    }
    for (const graph::Loopback& l : state_) tied.join(l.input, graph_.node(l.output).inputs()[0].source.node);
    for (const auto& [root, members] : tied.classes(order_)) {
      ExponentFamily family = family_of(members);
      if (family == ExponentFamily::none) continue;
      for (NodeId id : members) chosen_[id.index()] = in_family(chosen_[id.index()], family);
    }
    if (device_.features.mixed_exponents_matmul) return;
    // The packer of these chips changes the family on the way to a float, and not to a block float.
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (!computes(n)) continue;
      ExponentFamily in = exponent_family(input_format(n, ops::is_sparse_product(n) ? 1 : 0)), out = exponent_family(chosen_[id.index()]);
      if (in != ExponentFamily::none && out != ExponentFamily::none && in != out) unblock(id);
    }
  }

  // none: members that came with formats of both families, which only the user can mend.
  ExponentFamily family_of(const std::vector<NodeId>& members) const {
    std::size_t fixed[2] = {0, 0}, wished[2] = {0, 0}, natural[2] = {0, 0};
    for (NodeId id : members) {
      ExponentFamily f = exponent_family(chosen_[id.index()]);
      if (f == ExponentFamily::none) continue;
      auto& votes = fixed_[id.index()] ? fixed : wishes_[id.index()].output ? wished : natural;
      ++votes[f == ExponentFamily::a ? 0 : 1];
    }
    if (fixed[0] != 0 && fixed[1] != 0) return ExponentFamily::none;
    for (const auto& votes : {fixed, wished, natural})
      if (votes[0] != votes[1]) return votes[0] > votes[1] ? ExponentFamily::a : ExponentFamily::b;
    return family_;
  }

  void set_format(ValueType& type, DataFormat f) {
    if (type.format == f) return;
    type.format = f;
    ++report_.rewrites;
  }

  // ---- precision

  void choose_precision(Node& n) {
    const Wish& wish = wishes_[n.id().index()];
    graph::Precision chosen = n.precision;
    DataFormat in = input_format(n, ops::is_sparse_product(n) ? 1 : 0), out = chosen_[n.id().index()];
    bool matmul = n.op() == "matmul";
    if (is_integer(in) && !is_raw(in)) {
      chosen = {DataFormat::int32, DataFormat::int32, graph::MathFidelity::hifi4};
    } else {
      if (wish.accumulate) chosen.accumulate = wish.accumulate;
      if (!chosen.accumulate) chosen.accumulate = accumulate_ ? *accumulate_ : accumulator_for(in);
      if (n.op() == "reduce" && chosen.accumulate == DataFormat::float32 && exponent_family(in) == ExponentFamily::a)
        chosen.accumulate = DataFormat::float16;
      if (wish.intermediate) chosen.intermediate = wish.intermediate;
      if (!chosen.intermediate) chosen.intermediate = chosen.accumulate;
      if (is_z_maximum(n)) chosen.intermediate = out;
      if (n.tags.contains(kWideRange)) chosen.intermediate = unblocked(*chosen.intermediate);
      if (matmul) chosen.intermediate = accumulating(*chosen.intermediate, out);
      if (wish.fidelity) chosen.fidelity = wish.fidelity;
      if (!chosen.fidelity) chosen.fidelity = context_.formats.fidelity;
    }
    if (is_exact(n)) chosen.accumulate = chosen.intermediate = DataFormat::float32;
    if (chosen == n.precision) return;
    n.precision = chosen;
    ++report_.rewrites;
  }

  DataFormat accumulator_for(DataFormat in) const {
    if (in == DataFormat::float32 && device_.features.fp32_accumulate) return DataFormat::float32;
    ExponentFamily f = exponent_family(in) == ExponentFamily::none ? family_ : exponent_family(in);
    return half_format(f);
  }

  // What a matmul may keep its partial sums in.
  DataFormat accumulating(DataFormat f, DataFormat out) const {
    if (is_coarse(f)) f = block_format(8, exponent_family(f));
    if (device_.features.mixed_exponents_matmul) return f;
    ExponentFamily needed = out == DataFormat::float32 ? ExponentFamily::b : exponent_family(out);
    return f == DataFormat::float32 && out != f ? half_format(needed) : in_family(f, needed);
  }

  // ---- the end

  Result<void> check() const {
    Failure failure;
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      auto wrong = [&](std::string_view what, DataFormat f, const std::string& why) {
        Diagnostic d = input_error("PA033", n.loc, cat("node '", n.name(), "': ", what, ' ', format_name(f), ' ', why));
        d.node = n.name();
        failure.add(std::move(d));
      };
      for (const ValueType& type : n.outputs)
        // Words that nobody interprets are the same everywhere.
        if (!is_raw(*type.format) && !device_.supports(*type.format))
          wrong("format", *type.format, cat("is none of device '", device_.name, "': ", format_list(device_.formats)));
      if (!computes(n)) continue;
      DataFormat acc = *n.precision.accumulate;
      if ((acc == DataFormat::float32 && !device_.features.fp32_accumulate) ||
          (acc == DataFormat::int32 && !device_.features.int32_accumulate))
        wrong("accumulation in", acc, cat("is not possible on device '", device_.name, '\''));
      if (!device_.supports(*n.precision.intermediate))
        wrong("intermediate format", *n.precision.intermediate,
              cat("is none of device '", device_.name, "': ", format_list(device_.formats)));
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
      DataFormat f = input_format(n, i);
      ExponentFamily of_input = exponent_family(f);
      if (of_input == ExponentFamily::none) continue;
      if (family != ExponentFamily::none && family != of_input)
        wrong(cat("input ", i, " in"), f, "mixes exponents of 5 and of 8 bits with the inputs before it; give them formats of one family");
      family = of_input;
    }
  }

  // Wishes for a format of the other exponent family that could not be granted, one warning per rule. (That masks and outputs are no block
  // floats, and weights of the switches follow the family, is as documented.)
  void tell_changes() const {
    const auto& rules = context_.formats.rules;
    std::vector<std::vector<NodeId>> changed(rules.size());
    for (NodeId id : order_) {
      const Wish& wish = wishes_[id.index()];
      if (wish.output && exponent_family(*wish.output) != exponent_family(chosen_[id.index()])) changed[wish.rule].push_back(id);
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (changed[i].empty() || !rules[i].given_by_user) continue;
      const Node& n = graph_.node(changed[i][0]);
      Diagnostic d = warning(
          "PA035", n.loc,
          cat(rules[i].title, ": '", n.name(), "' is kept in ", format_name(chosen_[n.id().index()]), " instead of ",
              format_name(*wishes_[n.id().index()].output), ", since ops read it together with values whose exponents have another width",
              changed[i].size() == 1 ? "" : cat("; so are ", changed[i].size() - 1, " other values")));
      d.node = n.name();
      context_.host.report(d);
    }
  }

  Graph& graph_;
  PassContext& context_;
  const device::DeviceDescriptor& device_;
  PassReport report_;
  std::vector<NodeId> order_;
  std::vector<Wish> wishes_;  // by id, as are the following
  std::vector<char> fixed_;   // the graph came with a format, and no rule wishes for another one
  std::vector<DataFormat> chosen_;
  std::vector<graph::Loopback> state_;
  bool half_model_ = false;  // a tensor of the model is in F16
  std::optional<DataFormat> standard_;
  std::optional<DataFormat> accumulate_;
  ExponentFamily family_ = ExponentFamily::b;  // where nothing else decides
};

Result<PassReport> assign_formats(Graph& graph, PassContext& context) { return Formats(graph, context).run(); }

}  // namespace

const Pass kAssignFormats = {.name = "assign-formats",
                             .summary = "choose data formats, accumulation and math fidelity of all values and ops",
                             .level = graph::Level::device,
                             .needs_device = true,
                             .run = assign_formats};

}  // namespace buda::passes
