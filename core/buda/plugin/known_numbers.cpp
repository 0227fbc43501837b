// SPDX-License-Identifier: Apache-2.0
// Walks back from a value to what says something about its numbers.
#include <buda/plugin/known_numbers.hpp>

#include <buda/graph/graph.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/integers/integer_range.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace buda::plugin {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;

// How far back a value is followed.
constexpr int kSteps = 8;

template <std::size_t N>
bool is_one_of(const Node& n, const std::array<std::string_view, N>& ops) {
  return std::find(ops.begin(), ops.end(), n.op()) != ops.end();
}

// What an input is promised to hold, or what its type can.
std::optional<passes::IntegerRange> range_of_input(const Node& n) {
  if (auto promised = n.tags.find(passes::kValueRange); promised != n.tags.end()) return passes::parse_range(promised->second);
  if (is_float(n.outputs[0].dtype)) return std::nullopt;
  return passes::range_of_type(n.outputs[0].dtype);
}

bool are_small_integers(const Tensor& tensor, std::int64_t size) {
  const std::vector<float> numbers = tensor.to_f32();
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](float v) { return v == std::trunc(v) && std::abs(v) <= static_cast<float>(size); });
}

bool is_never_negative(const Graph& graph, const Edge& value, int steps) {
  if (const Tensor* known = passes::value_of(graph, value)) {
    const std::vector<float> numbers = known->to_f32();
    return std::all_of(numbers.begin(), numbers.end(), [](float v) { return v >= 0; });
  }
  const Node& n = graph.node(value.source.node);
  if (n.kind() == graph::NodeKind::input) {
    const auto range = range_of_input(n);
    return range && range->least >= 0;
  }
  if (!n.is_op() || steps == 0) return false;
  static constexpr std::array<std::string_view, 9> kNever = {"relu",    "abs",     "exp",          "square",  "sqrt",
                                                             "sigmoid", "softmax", "hard_sigmoid", "softplus"};
  static constexpr std::array<std::string_view, 15> kOfSuch = {"add",        "multiply",   "divide",    "maximum",    "minimum",
                                                               "reduce_sum", "reduce_avg", "slice",     "reduce_max", "reduce_min",
                                                               "reciprocal", "reshape",    "transpose", "broadcast",  "cast"};
  if (is_one_of(n, kNever)) return true;
  if (n.op() == "clip" && ops::Attrs(*ops::standard_ops().find(graph::Level::tensor, "clip"), n.attrs).real("min") >= 0) return true;
  const auto is_input_never = [&](const Edge& in) { return is_never_negative(graph, in, steps - 1); };
  if (n.op() == "maximum") return std::any_of(n.inputs().begin(), n.inputs().end(), is_input_never);
  // A conversion to a signed type could wrap around.
  if (n.op() == "cast" && !is_float(n.outputs[0].dtype)) return false;
  return is_one_of(n, kOfSuch) && std::all_of(n.inputs().begin(), n.inputs().end(), is_input_never);
}

}  // namespace

bool is_never_negative(const Graph& graph, const Edge& value) { return is_never_negative(graph, value, kSteps); }

bool are_small_integers(const Graph& graph, const Edge& value, std::int64_t size) {
  static constexpr std::array<std::string_view, 5> kMovements = {"reshape", "transpose", "slice", "broadcast", "cast"};
  Edge at = value;
  for (int steps = 0; steps < kSteps; ++steps) {
    const Node& n = graph.node(at.source.node);
    const DType type = n.outputs[at.source.port].dtype;
    if (const Tensor* known = passes::value_of(graph, at)) return are_small_integers(*known, size);
    if (!is_float(type) && passes::range_of_type(type).within(size)) return true;
    if (n.kind() == graph::NodeKind::input) {
      const auto range = is_float(type) ? std::nullopt : range_of_input(n);
      return range && range->within(size);
    }
    // A conversion to an unsigned type makes large numbers of negative ones.
    if (!n.is_op() || !is_one_of(n, kMovements) || !is_signed(type)) return false;
    at = n.inputs()[0];
  }
  return false;
}

}  // namespace buda::plugin
