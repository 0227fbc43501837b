// SPDX-License-Identifier: Apache-2.0
// assign-formats: the data format of every value on the device, and in which formats and how precisely every op computes.
//
// before                                            after
//   w = parameter : F32 [1, 1, 64, 32]                w = parameter : F32 [1, 1, 64, 32] Float16_b
//   y = matmul(x, w) : F32 [1, 1, 64, 32]             y = matmul(x, w) : F32 [1, 1, 64, 32] Float16_b
//                                                       intermediate Float16_b, accumulate Float16_b, HiFi3
//
// The order of decisions, each on top of those before:
//   1. Overrides. Rules of mixed precision (precision_rules.hpp) set formats, in their order. A value without an override keeps the format
//      that it has; without one it takes the standard format (--default-df-override), else that of its element type: Float16_b, for F16
//      Float16. Float32 becomes the fallback where the device cannot accumulate in it. A nop gives what it is given.
//      Ops of integers in Int8 leave no choice: their operands and results have the formats that they take and make.
//   2. No block floats where datums must stand alone: values of wide range (a mask's very negative padding, tag `wide_range`, whose
//      neighbours share an exponent) and values that the model gives out (the host reads datums). A 16-bit float of the same family
//      instead.
//   3. One format where an op needs it: a maximum over z and a splice take and give the same, as do an output and the input that it is in
//      the next step; the most precise of those that are set. And Float32 for a value of 5 exponent bits that is read together with a
//      Float32, whose exponents have 8 bits in source registers, or that an exact reduction reads, which accumulates in Float32.
//   4. One exponent family for values that an op reads together. Values tied so form classes; a format that the graph came with decides
//      the family of its class, else the majority of the overrides in it, else the standard. The others change to the format of the same
//      width, and what became of a rule's override is reported. Chips that cannot change the family while a matmul accumulates tie its
//      result too.
//   5. Fidelity: the override (rules, then --default-math-fidelity); integers take HiFi4.
//   6. Accumulate: the override (rules, then --default-accumulate-df) if the device can; else Float32 where the error model
//      (accumulation_error.hpp) expects too large an error of a product's sums in 16 bits, or a fused op multiplies what it adds to a
//      constant (fuse/shifts.hpp); else by input 0: Float32 for Float32, Int32 for integers, Float16 for exponents of 5 bits, Float16_b for
//      the others. Intermediate: the override, or the same; a matmul's is not narrower than 8 bits, since it is read back and added to.
//   7. Movements of values with more than 8 bits get the ops that keep all of those that the matrix unit reads (whole_movements.hpp); one
//      without weights takes at least HiFi2 unless a rule says otherwise.
//   8. What the device cannot hold is an error.
#include <buda/passes/formats/constant_signs.hpp>
#include <buda/passes/formats/format_checks.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/formats/format_overrides.hpp>
#include <buda/passes/formats/value_signs.hpp>
#include <buda/passes/formats/whole_movements.hpp>
#include <buda/passes/fuse/shifts.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/sum_roundings.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/passes/layout/node_classes.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/tensor/formats/math_unit.hpp>
#include <buda/tensor/half.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueType;

// Of a factor that all numbers of a value are multiplied with: less is little beside what rounding each of them makes.
constexpr double kBorneFactorError = 1e-3;

// Of a number in Float16_b, relative.
double factor_error(float factor) { return factor == 0 ? 0 : to_float(bfloat16_from_float(factor)) / static_cast<double>(factor) - 1; }

bool is_coarse(DataFormat f) { return is_bfp(f) && bits_per_datum(f) < 8; }

// The balancer may give more bits to sums of 16, where nobody says how many they have.
void tag_sums(Node& n, const graph::Precision& chosen, const ValueSigns& signs) {
  if (!chosen.accumulate || bits_per_datum(*chosen.accumulate) != 16 || !is_float(*chosen.accumulate)) return;
  const auto sum = signs.sum_of(n, *chosen.fidelity);
  if (sum && sum->terms > 1) n.tags[std::string(graph::kSumRoundings)] = cat(sum->steps * sum->phases);
}

class Formats {
 public:
  Formats(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        device_(*context.device),
        order_(device_nodes(graph)),
        fixed_(graph.id_bound(), 0),
        chosen_(graph.id_bound(), DataFormat::invalid) {
    half_model_ = std::any_of(order_.begin(), order_.end(), [&](NodeId id) {
      const Node& n = graph_.node(id);
      return !n.outputs.empty() && model_type(n) == DType::f16;
    });
  }

  Result<PassReport> run() {
    BUDA_ASSIGN(standard_, standard_formats(context_.formats, device_, context_.host));
    BUDA_ASSIGN(state_, graph::loopbacks(graph_));
    std::erase_if(state_, [&](const graph::Loopback& l) { return graph::on_host(graph_.node(l.input)); });
    const std::vector<PrecisionRule>& rules = context_.formats.rules;
    BUDA_ASSIGN(overrides_, format_overrides(graph_, order_, rules, standard_.family, device_, context_.host));
    for (NodeId id : order_) choose_output(graph_.node(id));
    for (NodeId id : graph_.ids())
      // Rows of datums, which have no blocks: what the host takes, and what it gives without making tiles of it.
      if (graph_.node(id).kind() == NodeKind::output || graph_.node(id).op() == graph::kToHost || takes_rows(graph_.node(id)))
        unblock(graph_.node(id).inputs()[0].source.node);
    do level_formats();
    while (widen_beside_float32());
    level_families();
    for (NodeId id : order_)
      for (ValueType& type : graph_.node(id).outputs) set_format(type, chosen_[id.index()]);
    split_movements();
    if (device_.features.fp32_accumulate) signs_.emplace(graph_, order_);
    for (NodeId id : order_)
      if (computes(graph_.node(id))) choose_precision(graph_.node(id));
    BUDA_TRY(check_formats(graph_, order_, device_));
    report_changed_families(graph_, order_, overrides_, rules, context_.host);
    return report_;
  }

 private:
  // ---- outputs

  void choose_output(const Node& n) {
    if (n.outputs.empty()) return;
    const FormatOverride& asked = overrides_[n.id().index()];
    DataFormat& f = chosen_[n.id().index()];
    mask_integers(n);
    if (auto needed = integer_format(n)) {
      f = *needed;
      fixed_[n.id().index()] = 1;
      return;
    }
    if (asked.output) {
      f = *asked.output;
    } else if (n.outputs[0].format) {
      f = *n.outputs[0].format;
      fixed_[n.id().index()] = 1;
      return;
    } else {
      f = is_copy(n) ? chosen_[n.inputs()[0].source.node.index()] : natural_format(n);
    }
    if (n.tags.contains(kWideRange) || n.tags.contains(kExact)) f = unblocked(f);
    if (is_exact(n, device_)) f = DataFormat::float32;
  }

  // What ops of integers leave no choice of: their results, and their operands.
  std::optional<DataFormat> integer_format(const Node& n) const {
    if (auto made = integer_result(n)) return made;
    for (const graph::Use& use : graph_.users(n.id()))
      if (auto needed = integer_operand(graph_.node(use.node), use.input)) return needed;
    const bool hands_on =
        is_copy(n) || n.op() == "multiply" || n.op() == "add" || ops::is_sparse_product(n) || n.op() == "splice" || is_z_maximum(n);
    const std::size_t data = ops::is_sparse_product(n) ? 1 : 0;
    return hands_on && input_format(n, data) == DataFormat::int8 ? std::optional(DataFormat::int8) : std::nullopt;
  }

  // The mask of ones and zeros that an integer is multiplied with has its format.
  void mask_integers(const Node& n) {
    if (n.op() != "multiply" || input_format(n, 0) != DataFormat::int8 || !graph_.node(n.inputs()[1].source.node).has_value()) return;
    const NodeId mask = n.inputs()[1].source.node;
    chosen_[mask.index()] = DataFormat::int8;
    fixed_[mask.index()] = 1;
  }

  DataFormat natural_format(const Node& n) const {
    DType dtype = n.outputs[0].dtype;
    if (!is_float(dtype)) {
      if (dtype == DType::i8) return DataFormat::int8;
      if (dtype == DType::u8) return DataFormat::uint8;
      return only_indexes(n) ? DataFormat::raw_uint32 : DataFormat::int32;
    }
    // An integer of the model that 16-bit floats do not hold.
    DType model = model_type(n);
    bool wide = is_integer(model) && dtype_size(model) > 1 && !computes(n);
    if (wide && device_.supports(DataFormat::float32) && device_.features.fp32_accumulate) return DataFormat::float32;
    if (standard_.values) return *standard_.values;
    if (is_common_factor(n)) return DataFormat::float32;
    return (dtype == DType::f16 || half_model_) && device_.supports(DataFormat::float16) ? DataFormat::float16 : DataFormat::float16_b;
  }

  // What every term of a sum is multiplied with, 1 / n of a mean, or every number of a value, 1 / 6 of a hard swish: its error would be
  // that of the sum, and add up from layer to layer where rounding of the values does not. As a Float32 it keeps 11 bits in products with
  // values of 16 bits.
  bool is_common_factor(const Node& n) const {
    if (!device_.supports(DataFormat::float32) || !device_.features.fp32_accumulate || half_model_ || !n.has_value() || !n.value)
      return false;
    const auto factor = only_factor(n.value->tensor);
    const auto users = graph_.users(n.id());
    return factor && *factor != masked_bits(*factor, 0xffff0000u) && std::all_of(users.begin(), users.end(), [&](const graph::Use& use) {
             const Node& user = graph_.node(use.node);
             if (multiplies_by(user, use.input)) return std::abs(factor_error(*factor)) > kBorneFactorError;
             return use.input < 2 && user.op() == "matmul" && !ops::is_sparse_product(user);
           });
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
      if (!keeps_format(n)) continue;
      for (const graph::Edge& edge : n.inputs()) {
        same.join(id, edge.source.node);
        tied.push_back(edge.source.node);
      }
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

  // Makes Float32 of values of 5 exponent bits that meet one in an op, or that an exact op reduces; false where there are none.
  bool widen_beside_float32() {
    if (!device_.supports(DataFormat::float32)) return false;
    bool widened = false;
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (!computes(n)) continue;
      const bool meets = std::any_of(n.inputs().begin(), n.inputs().end(),
                                     [&](const graph::Edge& edge) { return chosen_[edge.source.node.index()] == DataFormat::float32; });
      if (!meets && !(n.op() == "reduce" && is_exact(n, device_))) continue;
      for (const graph::Edge& edge : n.inputs()) {
        const std::size_t value = edge.source.node.index();
        if (fixed_[value] || exponent_family(chosen_[value]) != ExponentFamily::a) continue;
        chosen_[value] = DataFormat::float32;
        widened = true;
      }
    }
    return widened;
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
      bool keeps = keeps_format(n) || (n.op() == "matmul" && !device_.features.mixed_exponents_matmul);
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
    std::size_t fixed[2] = {0, 0}, overridden[2] = {0, 0}, natural[2] = {0, 0};
    for (NodeId id : members) {
      ExponentFamily f = exponent_family(chosen_[id.index()]);
      if (f == ExponentFamily::none) continue;
      auto& votes = fixed_[id.index()] ? fixed : overrides_[id.index()].output ? overridden : natural;
      ++votes[f == ExponentFamily::a ? 0 : 1];
    }
    if (fixed[0] != 0 && fixed[1] != 0) return ExponentFamily::none;
    for (const auto& votes : {fixed, overridden, natural})
      if (votes[0] != votes[1]) return votes[0] > votes[1] ? ExponentFamily::a : ExponentFamily::b;
    return standard_.family;
  }

  void set_format(ValueType& type, DataFormat f) {
    if (type.format == f) return;
    type.format = f;
    ++report_.rewrites;
  }

  void split_movements() {
    const std::size_t split =
        keep_whole_movements(graph_, order_, device_.features.fp32_accumulate && device_.supports(DataFormat::float32));
    if (split == 0) return;
    report_.rewrites += split;
    order_ = device_nodes(graph_);
    overrides_.resize(graph_.id_bound());
    fixed_.resize(graph_.id_bound(), 0);
    chosen_.resize(graph_.id_bound(), DataFormat::invalid);
    for (NodeId id : order_)
      if (!graph_.node(id).outputs.empty()) chosen_[id.index()] = *graph_.node(id).outputs[0].format;
  }

  // ---- precision

  void choose_precision(Node& n) {
    const FormatOverride& asked = overrides_[n.id().index()];
    graph::Precision chosen = n.precision;
    DataFormat in = input_format(n, ops::is_sparse_product(n) ? 1 : 0), out = chosen_[n.id().index()];
    bool matmul = n.op() == "matmul";
    const bool is_open = !asked.accumulate && !asked.intermediate && !standard_.accumulate && !n.precision.accumulate;
    if ((is_integer(in) && !is_raw(in)) || n.op() == "quantization") {
      chosen = {DataFormat::int32, DataFormat::int32, graph::MathFidelity::hifi4};
    } else {
      if (asked.fidelity) chosen.fidelity = asked.fidelity;
      if (!chosen.fidelity) chosen.fidelity = fidelity_for(n);
      if (asked.accumulate) chosen.accumulate = asked.accumulate;
      if (!chosen.accumulate) chosen.accumulate = standard_.accumulate ? *standard_.accumulate : accumulator_for(n, in, *chosen.fidelity);
      if (n.op() == "reduce" && chosen.accumulate == DataFormat::float32 && exponent_family(in) == ExponentFamily::a)
        chosen.accumulate = DataFormat::float16;
      if (asked.intermediate) chosen.intermediate = asked.intermediate;
      if (!chosen.intermediate) chosen.intermediate = chosen.accumulate;
      if (is_z_maximum(n)) chosen.intermediate = out;
      if (n.tags.contains(kWideRange)) chosen.intermediate = unblocked(*chosen.intermediate);
      if (matmul) chosen.intermediate = accumulating(*chosen.intermediate, out);
    }
    if (n.tags.contains(kExact) || graph::adds_up_gradients(n)) {
      // All bits of integers count, and the phases of less than HiFi4 leave some out.
      if (chosen.fidelity) chosen.fidelity = graph::MathFidelity::hifi4;
      if (is_exact(n, device_)) {
        chosen.accumulate = chosen.intermediate = DataFormat::float32;
      } else {
        chosen.intermediate = unblocked(*chosen.intermediate);
      }
      if (graph::adds_up_gradients(n)) chosen.intermediate = out;
    }
    if (is_open && signs_) tag_sums(n, chosen, *signs_);
    if (chosen == n.precision) return;
    n.precision = chosen;
    ++report_.rewrites;
  }

  // One phase reads 5 bits of what a selection matrix moves.
  graph::MathFidelity fidelity_for(const Node& n) const {
    const graph::MathFidelity standard = context_.formats.fidelity;
    const bool moves = ops::is_sparse_product(n) && n.inputs().size() == 2;
    return moves && standard == graph::MathFidelity::lofi ? graph::MathFidelity::hifi2 : standard;
  }

  // Rows of tiles that do not divide into blocks of the smaller register (5, 7) are computed one by one there.
  double borne_error(const Node& n) const {
    const Shape& result = n.outputs[0].shape;
    auto largest_block = [&](DataFormat f) {
      std::int64_t most = 1;
      for (std::int64_t r = 1; r <= device_.dest_tiles(f); ++r)
        for (std::int64_t c = 1; r * c <= device_.dest_tiles(f); ++c)
          if (result[2] % (r * graph::kTileSide) == 0 && result[3] % (c * graph::kTileSide) == 0) most = std::max(most, r * c);
      return most;
    };
    const bool falls = largest_block(DataFormat::float32) * 4 <= largest_block(DataFormat::float16_b);
    return falls ? kLargestErrorAtHighPrice : kLargestExpectedError;
  }

  DataFormat accumulator_for(const Node& n, DataFormat in, graph::MathFidelity fidelity) const {
    const DataFormat half = half_format(exponent_family(in) == ExponentFamily::none ? standard_.family : exponent_family(in));
    if (!device_.features.fp32_accumulate) return half;
    // What waits in a buffer is a Float32 then, which no value of 5 exponent bits can meet.
    const bool adds_whole = exponent_family(half) == ExponentFamily::b && holds_multiplied_shift(graph_, n);
    const bool needs_all = in == DataFormat::float32 || adds_whole;
    return needs_all || is_inexact_in(half, signs_->sum_of(n, fidelity), borne_error(n)) ? DataFormat::float32 : half;
  }

  // What a matmul may keep its partial sums in.
  DataFormat accumulating(DataFormat f, DataFormat out) const {
    if (is_coarse(f)) f = block_format(8, exponent_family(f));
    if (device_.features.mixed_exponents_matmul) return f;
    ExponentFamily needed = out == DataFormat::float32 ? ExponentFamily::b : exponent_family(out);
    return f == DataFormat::float32 && out != f ? half_format(needed) : in_family(f, needed);
  }

  Graph& graph_;
  PassContext& context_;
  const device::DeviceDescriptor& device_;
  PassReport report_;
  std::vector<NodeId> order_;
  std::optional<ValueSigns> signs_;        // of a device that can accumulate in Float32
  std::vector<FormatOverride> overrides_;  // by id, as are the following
  std::vector<char> fixed_;                // the graph came with a format, and no rule sets another one
  std::vector<DataFormat> chosen_;
  std::vector<graph::Loopback> state_;
  bool half_model_ = false;  // a tensor of the model is in F16
  StandardFormats standard_;
};

Result<PassReport> assign_formats(Graph& graph, PassContext& context) { return Formats(graph, context).run(); }

}  // namespace

const Pass kAssignFormats = {.name = "assign-formats",
                             .summary = "assign data formats, accumulate formats and math fidelity to all values and ops",
                             .level = graph::Level::device,
                             .needs_device = true,
                             .run = assign_formats};

}  // namespace buda::passes
