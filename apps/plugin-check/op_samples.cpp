// SPDX-License-Identifier: Apache-2.0
// Sampling of inputs and attributes. Definitions say how many inputs an op has and which attributes, not which shapes go together; so those
// are tried, small ones, until the op's own rule accepts them.
#include "apps/plugin-check/op_samples.hpp"

#include <buda/base/text.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/pipeline/equivalence_check.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace buda::plugin_check {
namespace {

using graph::AttrType;
using ops::AttrDef;
using ops::AttrMap;
using ops::OpDef;

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> pool = {Shape{2, 4, 6, 6}, Shape{4, 4, 3, 3}, Shape{4, 4}, Shape{2, 4, 6},
                                          Shape{4},          Shape{1},          Shape{3, 4}, Shape{}};
  return pool;
}

// Values for an attribute that must be given, and for one that may: the standard, then others.
std::vector<graph::Attr> values_of(const AttrDef& def) {
  std::vector<graph::Attr> out;
  if (def.standard) out.push_back(*def.standard);
  switch (def.type) {
    case AttrType::boolean:
      return {graph::Attr(false), graph::Attr(true)};
    case AttrType::integer:
      for (std::int64_t v : {1, 0, 2}) out.emplace_back(v);
      break;
    case AttrType::real:
      out.emplace_back(0.5);
      break;
    case AttrType::text:
      for (const std::string& choice : def.choices) out.emplace_back(choice);
      break;
    case AttrType::integers:
      for (const std::vector<std::int64_t>& v : std::vector<std::vector<std::int64_t>>{{2, 2}, {1}, {2}, {1, 1}, {0}}) out.emplace_back(v);
      break;
    default:
      break;
  }
  std::vector<graph::Attr> distinct;
  for (graph::Attr& v : out)
    if (std::find(distinct.begin(), distinct.end(), v) == distinct.end()) distinct.push_back(std::move(v));
  return distinct;
}

// Attributes to try: the required ones in every combination, then one optional one at a time.
std::vector<AttrMap> attribute_choices(const OpDef& def) {
  constexpr std::size_t kMaxChoices = 64;
  std::vector<AttrMap> out{{}};
  for (const AttrDef& attr : def.attrs) {
    if (attr.standard) continue;
    std::vector<AttrMap> next;
    for (const AttrMap& given : out)
      for (const graph::Attr& value : values_of(attr)) {
        next.push_back(given);
        next.back()[attr.name] = value;
      }
    if (next.size() > kMaxChoices) next.resize(kMaxChoices);
    out = std::move(next);
  }
  const std::size_t required = out.size();
  for (const AttrDef& attr : def.attrs)
    for (std::size_t i = 0; attr.standard && i < required; ++i)
      for (const graph::Attr& value : values_of(attr)) {
        if (value == *attr.standard || out.size() >= 4 * kMaxChoices) continue;
        out.push_back(out[i]);
        out.back()[attr.name] = value;
      }
  return out;
}

constexpr std::array<DType, 4> kTypes = {DType::f32, DType::i64, DType::boolean, DType::i8};

// Where a value of the sample comes from: the model's input, or known as weights and indices are.
enum class Source : std::uint8_t { input, parameter };

struct Operand {
  Shape shape;
  DType dtype = DType::f32;
  Source source = Source::input;
};

Tensor known_value(const Operand& operand, std::size_t seed) {
  std::vector<float> values(static_cast<std::size_t>(*operand.shape.volume()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto step = static_cast<float>((i * 7 + seed) % 11);
    values[i] = operand.dtype == DType::f32 ? (step + 1) / 8 : static_cast<float>(static_cast<int>(step) % 3);
  }
  return Tensor(operand.shape, std::move(values)).cast(operand.dtype);
}

std::optional<graph::Graph> build(const OpDef& def, const std::vector<Operand>& operands, const AttrMap& attrs) {
  std::vector<graph::ValueType> types;
  for (const Operand& operand : operands) types.push_back({.dtype = operand.dtype, .shape = operand.shape, .format = {}});
  auto results = ops::infer(def, types, attrs);
  if (!results) return std::nullopt;
  ops::Builder b("sample");
  std::vector<graph::Edge> in;
  for (std::size_t i = 0; i < operands.size(); ++i)
    in.emplace_back(operands[i].source == Source::input ? b.input(cat("in", i), operands[i].shape, operands[i].dtype)
                                                        : b.parameter(cat("in", i), known_value(operands[i], i)));
  graph::ValueRef op = b.named("op").op(def.name, std::move(in), attrs);
  for (std::uint32_t port = 0; port < results->size(); ++port) b.output(cat("out", port), graph::ValueRef(op.node, port));
  auto graph = b.finish();
  if (!graph) return std::nullopt;
  return std::move(*graph);
}

bool can_be_evaluated(const graph::Graph& g) {
  auto inputs = passes::random_inputs(g, 1);
  return inputs && ops::evaluate_graph(g, *inputs).ok();
}

}  // namespace

void for_op_samples(std::string_view name, const std::function<bool(graph::Graph&)>& use) {
  const OpDef* def = ops::standard_ops().find(graph::Level::tensor, name);
  if (def == nullptr) return;
  constexpr std::uint32_t kMaxInputs = 3;
  constexpr std::size_t kMaxTrials = 1'500'000;
  const std::vector<AttrMap> attributes = attribute_choices(*def);
  std::size_t tries = 0;
  for (std::uint32_t inputs = def->least_inputs; inputs <= std::min(def->most_inputs, std::max(def->least_inputs, kMaxInputs)); ++inputs) {
    // Each input has a shape and a type, and is given or known: one digit of a number.
    // Of many inputs all behind the first are alike, as the parameters of a normalization are.
    const std::size_t kinds = shapes().size() * 2 * kTypes.size();
    std::size_t combinations = 1;
    for (std::uint32_t i = 0; i < (inputs > kMaxInputs ? 2 : inputs); ++i) combinations *= kinds;
    for (std::size_t number = 0; number < combinations; ++number) {
      std::vector<Operand> operands(inputs);
      std::size_t rest = number;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        Operand& operand = operands[i];
        if (inputs > kMaxInputs && i >= 2) {
          operand = operands[1];
          continue;
        }
        operand.shape = shapes()[rest % shapes().size()];
        rest /= shapes().size();
        operand.source = rest % 2 == 0 ? Source::input : Source::parameter;
        rest /= 2;
        operand.dtype = kTypes[rest % kTypes.size()];
        rest /= kTypes.size();
      }
      if (std::none_of(operands.begin(), operands.end(), [](const Operand& o) { return o.source == Source::input; })) continue;
      for (const AttrMap& attrs : attributes) {
        if (++tries > kMaxTrials) return;
        auto graph = build(*def, operands, attrs);
        if (graph && can_be_evaluated(*graph) && use(*graph)) return;
      }
    }
  }
}

}  // namespace buda::plugin_check
