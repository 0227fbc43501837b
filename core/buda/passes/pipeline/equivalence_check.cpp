// SPDX-License-Identifier: Apache-2.0
// Evaluating and comparing graphs between passes.
//
// What a device graph computes is padded; what counts of it is the corner that holds the model's numbers, and whose shape is known from the
// first graph by the node's name. Nodes that lowering added have no such shape and are left out.
#include <buda/passes/pipeline/equivalence_check.hpp>

#include <buda/base/hash.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/integers/integer_range.hpp>
#include <buda/tensor/check/compare.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

// Errors below this come from rounding numbers of ordinary size, however small the result is.
constexpr double kMinScale = 1e-2;
// Results are disturbed by some units in the last place of an fp32, and differences up to that many times what comes of it are rounding's.
constexpr float kDisturbance = 0x1p-21f;
constexpr double kTimesDisturbance = 8;
// A spread of less than this part of the largest value is the rounding's, not the model's.
constexpr double kMinSpread = 1e-3;

struct Extent {
  double largest = 0;  // absolute
  double spread = 0;   // highest less lowest
};

Extent extent(const Tensor& t) {
  Extent out;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (float v : t.to_f32()) {
    if (!std::isfinite(v)) continue;
    out.largest = std::max(out.largest, std::abs(static_cast<double>(v)));
    low = std::min(low, static_cast<double>(v));
    high = std::max(high, static_cast<double>(v));
  }
  out.spread = high > low ? high - low : 0;
  return out;
}

// As if the results had been rounded otherwise.
void disturb(const Node& n, std::span<Tensor> results) {
  for (Tensor& result : results) {
    if (result.dtype() != DType::f32) continue;
    Rng rng(Fnv1a{}.add(n.name()).value());
    std::vector<float> elements = result.to_f32();
    for (float& e : elements) e *= rng.below(2) == 0 ? 1 - kDisturbance : 1 + kDisturbance;
    result = Tensor(result.shape(), std::move(elements));
  }
}

// From 0 to 3, or as near to that as the input's range is. Of booleans both.
Tensor random_integers(const Node& input, const Shape& shape, Rng& rng) {
  const DType type = input.outputs[0].dtype;
  const IntegerRange range = parse_range(graph::value_range_of(input)).value_or(range_of_type(type));
  const std::int64_t least = range.least, most = range.most;
  const std::int64_t steps = std::min<std::int64_t>(3, (IntegerRange{most, most} - IntegerRange{least, least}).most);
  const std::int64_t first = std::clamp<std::int64_t>(0, least, most - steps);
  std::vector<std::int64_t> elements(static_cast<std::size_t>(*shape.volume()));
  for (std::int64_t& e : elements) e = first + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(steps) + 1));
  return Tensor(shape, std::move(elements)).cast(type);
}

// From -2 to 2 likewise.
std::pair<double, double> interval_of_reals(const Node& input) {
  const auto range = parse_range(graph::value_range_of(input));
  if (!range) return {-2, 2};
  const auto least = static_cast<double>(range->least), most = static_cast<double>(range->most);
  const double size = std::min(4.0, most - least), first = std::clamp(-2.0, least, most - size);
  return {first, first + size};
}

}  // namespace

Result<NamedTensors> random_inputs(const Graph& graph, std::uint64_t seed) {
  NamedTensors out;
  for (NodeId id : graph.inputs()) {
    const Node& n = graph.node(id);
    Shape shape = n.outputs[0].shape;
    if (auto it = n.attrs.find(ops::kModelShape); graph::level_of(graph, n) == graph::Level::device && it != n.attrs.end())
      if (const auto* dims = std::get_if<std::vector<std::int64_t>>(&it->second)) shape = Shape(*dims);
    BUDA_TRY(Tensor::zeros(n.outputs[0].dtype, shape));  // too large a shape is found here
    Rng rng(Fnv1a{}.add(seed).add(n.name()).value());
    if (!is_float(n.outputs[0].dtype)) {
      out.emplace(n.name(), random_integers(n, shape, rng));
      continue;
    }
    std::vector<float> elements(static_cast<std::size_t>(*shape.volume()));
    const auto [first, last] = interval_of_reals(n);
    for (float& e : elements) e = static_cast<float>(rng.uniform(first, last));
    out.emplace(n.name(), Tensor(shape, std::move(elements)).cast(n.outputs[0].dtype));
  }
  return out;
}

Result<EquivalenceCheck::Run> EquivalenceCheck::evaluate(const Graph& graph, bool disturbed) const {
  Run run;
  Values& values = run.values;
  ops::EvaluateOptions options;
  options.threads = host_->threads;
  options.registry = registry_;
  if (disturbed) options.disturb = disturb;
  options.observe = [&](const Node& n, std::span<const Tensor> results) {
    if (!n.is_op() || results.empty()) return;
    if (graph::level_of(graph, n) == graph::Level::tensor) {
      values.emplace(n.name(), results[0]);
    } else if (auto shape = shapes_.find(n.name()); shape != shapes_.end()) {
      auto before = values_.find(n.name());
      auto corner = ops::from_device(results[0], shape->second);
      // Integers and booleans are floats on the device.
      if (corner)
        values.emplace(n.name(), before == values_.end() ? std::move(*corner) : ops::in_model_type(*corner, before->second.dtype()));
    }
  };
  BUDA_ASSIGN(run.outputs, ops::evaluate_graph(graph, inputs_, options));
  return run;
}

EquivalenceCheck::EquivalenceCheck(Host& host, const ops::Registry& registry, EquivalenceThresholds thresholds)
    : host_(&host), registry_(&registry), thresholds_(thresholds) {}
EquivalenceCheck::~EquivalenceCheck() = default;

// What rounding does to the values of a graph, found out when it is asked for the first time.
class EquivalenceCheck::Rounding {
 public:
  Rounding(const EquivalenceCheck& check, const Graph& graph, const Run& run) : check_(check), graph_(graph), run_(run) {}

  bool explains_value(const std::string& name, const Tensor& before) { return explains(before, name, &Run::values); }
  bool explains_output(const std::string& name, const Tensor& before) { return explains(before, name, &Run::outputs); }

 private:
  template <typename Tensors>
  bool explains(const Tensor& before, const std::string& name, Tensors Run::*tensors) {
    if (!disturbed_) {
      auto run = check_.evaluate(graph_, true);
      disturbed_ = run ? std::move(*run) : Run{};
    }
    const auto now = (run_.*tensors).find(name);
    const auto disturbed = ((*disturbed_).*tensors).find(name);
    if (disturbed == ((*disturbed_).*tensors).end() || before.dtype() != now->second.dtype()) return false;
    auto change = compare(before, now->second), noise = compare(now->second, disturbed->second);
    if (!change || !noise || (change->not_finite != 0 && noise->not_finite == 0)) return false;
    return change->max_abs_error <= kTimesDisturbance * noise->max_abs_error;
  }

  const EquivalenceCheck& check_;
  const Graph& graph_;
  const Run& run_;
  std::optional<Run> disturbed_;
};

Result<void> EquivalenceCheck::start(const Graph& graph, NamedTensors inputs) {
  inputs_ = std::move(inputs);
  BUDA_ASSIGN(Run run, evaluate(graph));
  outputs_ = std::move(run.outputs);
  values_ = std::move(run.values);
  shapes_.clear();
  for (const auto& [name, tensor] : values_) shapes_.emplace(name, tensor.shape());
  return success();
}

std::optional<Diagnostic> EquivalenceCheck::compare_values(const Tensor& expected, const Tensor& actual, const std::string& what) const {
  auto differs = [&](const std::string& how) {
    Diagnostic d = input_error("PA040", {}, cat(what, ' ', how));
    d.fault = Fault::mismatch;
    return d;
  };
  Extent of = extent(expected);
  double most = thresholds_.max_error * std::max(of.largest, kMinScale);
  auto compared = compare(expected, actual, {.rtol = 0, .atol = most, .worst = 1});
  if (!compared) return differs(cat("has the shape ", actual.shape().text(), " and had ", expected.shape().text()));
  if (expected.dtype() != actual.dtype()) return differs(cat("is ", dtype_name(actual.dtype()), " and was ", dtype_name(expected.dtype())));
  // NaN compares as no error at all, so that what is not finite is counted by itself.
  if (compared->not_finite != 0) return differs(cat("has ", compared->not_finite, " elements that are NaN or infinite on one side only"));
  if (compared->max_abs_error > most) {
    Diagnostic d = differs(
        cat("differs by up to ", compared->max_abs_error, ", and ", most, " is allowed (", thresholds_.max_error, " of its range)"));
    if (!compared->worst.empty())
      d.notes.push_back({{},
                         cat("at ", list_text(compared->worst[0].place), ": ", compared->worst[0].expected, " before, ",
                             compared->worst[0].actual, " after")});
    return d;
  }
  bool varies = compared->correlation.state == Correlation::State::defined && of.spread > kMinSpread * of.largest && of.largest > kMinScale;
  if (varies && compared->correlation.value < thresholds_.min_correlation)
    return differs(cat("correlates by ", compared->correlation.value, ", and at least ", thresholds_.min_correlation, " is asked for"));
  return std::nullopt;
}

Result<void> EquivalenceCheck::after(const Graph& graph, std::string_view pass) {
  BUDA_ASSIGN(Run run, evaluate(graph));
  Rounding rounding(*this, graph, run);
  std::optional<Diagnostic> first;
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    auto now = run.values.find(n.name()), before = values_.find(n.name());
    if (!n.is_op() || now == run.values.end() || before == values_.end()) continue;
    first = compare_values(before->second, now->second, cat("the value of node '", n.name(), '\''));
    if (!first) continue;
    if (rounding.explains_value(n.name(), before->second)) {
      first.reset();
      continue;
    }
    first->message = cat("pass '", pass, "' changed the semantics of the graph: ", first->message);
    first->node = n.name();
    first->loc = n.loc;
    for (const auto& origin : n.origins)
      first->notes.push_back({{origin.file}, cat("'", n.name(), "' comes from node '", origin.node, '\'')});
    break;
  }
  for (const auto& [name, expected] : outputs_) {
    auto now = run.outputs.find(name);
    auto d = now == run.outputs.end() ? input_error("PA040", {}, cat("output '", name, "' is gone"))
                                      : compare_values(expected, now->second, cat("output '", name, '\''));
    if (!d || (now != run.outputs.end() && rounding.explains_output(name, expected))) continue;
    if (first) {
      first->notes.push_back({{}, d->message});
    } else {
      first = d;
      first->fault = Fault::mismatch;
      first->node = name;
      first->message = cat("pass '", pass, "' changed the semantics of the graph: ", d->message);
    }
  }
  values_ = std::move(run.values);
  if (first) return *first;
  return success();
}

}  // namespace buda::passes
