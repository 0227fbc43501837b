// SPDX-License-Identifier: Apache-2.0
// Ranges of inputs, and drawing from them.
#include <buda/runtime/model/model_stimulus.hpp>

#include <buda/base/hash.hpp>
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/integers/index_operand.hpp>
#include <buda/runtime/model/graph_model.hpp>
#include <buda/runtime/model_runs.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace buda::runtime {
namespace {

// Both bounds belong to it; for real numbers the upper one does not.
struct Range {
  double least = -1, most = 1;
};

Range range_of(const Port& input) {
  const bool is_index = !input.tensor->index_of.empty();
  if (const auto known = graph::parse_input_range(input.tensor->value_range))
    return {static_cast<double>(is_index && known->most >= 0 ? std::max<std::int64_t>(known->least, 0) : known->least),
            static_cast<double>(known->most)};
  return is_float(input.dtype) ? Range{} : Range{0, 1};
}

// Of an integer type, its largest and smallest numbers; doubles hold those of 53 bits.
template <class T>
T whole(double v) {
  constexpr double kExact = 0x1p53;
  const double least = std::max(static_cast<double>(std::numeric_limits<T>::min()), -kExact);
  const double most = std::min(static_cast<double>(std::numeric_limits<T>::max()), kExact);
  return static_cast<T>(std::clamp(v, least, most));
}

template <class T>
T drawn(Rng& rng, const Range& range) {
  const double u = rng.uniform();
  const double real = range.least + (range.most - range.least) * u;
  if constexpr (std::is_same_v<T, Boolean>)
    return Boolean{static_cast<std::uint8_t>(u >= 0.5 ? 1 : 0)};
  else if constexpr (std::is_same_v<T, Half>)
    return half_from_float(static_cast<float>(real));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return bfloat16_from_float(static_cast<float>(real));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(real);
  else
    return whole<T>(std::floor(range.least + (range.most - range.least + 1) * u));
}

Tensor draw(const Port& input, Shape shape, const Range& range, std::uint64_t seed) {
  Rng rng(Fnv1a{}.add(input.tensor->name).add(seed).value());
  const auto size = static_cast<std::size_t>(shape.volume().value_or(0));
  return visit_dtype(input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> elements;
    elements.reserve(size);
    for (std::size_t i = 0; i < size; ++i) elements.push_back(drawn<T>(rng, range));
    return Tensor(std::move(shape), std::move(elements));
  });
}

// The first size of all inputs and outputs, states apart; nothing where they do not share it.
std::optional<std::int64_t> batch_of(const Ports& ports) {
  std::optional<std::int64_t> batch;
  for (const auto* side : {&ports.inputs, &ports.outputs})
    for (const Port& port : *side) {
      const std::string& name = port.tensor->name;
      if (side == &ports.inputs ? ports.is_state(name) : ports.gives_state(name)) continue;
      if (port.shape.rank() == 0 || (batch && *batch != port.shape[0])) return std::nullopt;
      batch = port.shape[0];
    }
  return batch;
}

std::int64_t rows_of_inputs(const ModelRuns& runs, const NamedTensors& given, std::int64_t rounds, std::int64_t batch) {
  for (const Port& port : runs.ports.inputs)
    if (const auto found = given.find(port.tensor->name); found != given.end() && !runs.ports.is_state(port.tensor->name))
      return found->second.shape().rank() == 0 ? batch : found->second.shape()[0];
  return batch * runs.per_turn * rounds;
}

}  // namespace

Result<NamedTensors> draw_inputs(const Model& model, const NamedTensors& given, std::int64_t rounds, std::uint64_t seed) {
  BUDA_ASSIGN(const ModelRuns runs, runs_of(model));
  const auto batch = batch_of(runs.ports);
  NamedTensors out;
  for (const Port& port : runs.ports.inputs) {
    const std::string& name = port.tensor->name;
    if (given.contains(name) || !runs.ports.must_be_given(name)) continue;
    Shape shape = port.shape;
    if (batch) shape[0] = rows_of_inputs(runs, given, rounds, *batch);
    out.emplace(name, draw(port, std::move(shape), range_of(port), seed));
  }
  return out;
}

Result<NamedTensors> draw_inputs(graph::Graph graph, const std::string& path, const NamedTensors& given, std::uint64_t seed) {
  BUDA_TRY(ops::infer_types(graph));
  if (graph.level == graph::Level::tensor) BUDA_TRY(passes::bound_indices(graph));
  BUDA_ASSIGN(const Model model, model_of_graph(std::move(graph), path));
  return draw_inputs(model, given, 1, seed);
}

}  // namespace buda::runtime
