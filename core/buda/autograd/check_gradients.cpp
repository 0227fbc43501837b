// SPDX-License-Identifier: Apache-2.0
// A copy of the step's graph in F64 with the loss and the gradients as its outputs.
#include <buda/autograd/check_gradients.hpp>

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace buda::autograd {

using graph::Graph;
using graph::Node;
using graph::NodeId;

namespace {

constexpr double kTolerance = 1e-5;
// Gradients below this are as good as 0: differences of a loss do not resolve them.
constexpr double kSmallest = 1e-4;
// A difference over a kink is wrong, and over less of it right.
constexpr std::array kSteps = {1e-5, 1e-6, 1e-7};
constexpr std::size_t kMaxElements = 4;

constexpr std::string_view kGradient = "gradient of ";

// The loss and the gradients alone.
Result<Graph> gradients_in_f64(const TrainingStep& step, std::string& loss) {
  Graph graph = step.graph;
  const std::vector<NodeId> outputs = graph.outputs();
  for (NodeId id : outputs) {
    if (graph::training_of(graph.node(id)) == graph::kTrainingLoss) {
      loss = graph.node(id).name();
    } else {
      graph.erase(id);
    }
  }
  for (const TrainedParameter& p : step.parameters)
    graph.add(graph.fresh_name(cat(kGradient, p.name)), std::string(graph::kOutputOp), {graph::Edge(p.gradient)});
  graph = in_f64(std::move(graph));
  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  return graph;
}

Tensor drawn(Rng& rng, const graph::ValueType& type, const std::string& training) {
  // A step that learns, and drops nothing: whatever a mask is, the gradient goes through it like through any factor.
  const bool is_one = training == graph::kTrainingLearns || training.starts_with(graph::kTrainingMask);
  if (is_one) return Tensor(type.shape, std::vector<double>(static_cast<std::size_t>(type.shape.volume().value_or(0)), 1)).cast(type.dtype);
  const bool is_target = training == graph::kTrainingTarget;
  std::vector<double> elements(static_cast<std::size_t>(type.shape.volume().value_or(0)));
  for (double& x : elements)
    x = is_target ? rng.uniform(0.1, 1) : is_float(type.dtype) ? rng.uniform(-1, 1) : static_cast<double>(rng.below(2));
  const auto classes = static_cast<std::size_t>(type.shape.rank() == 0 ? 1 : type.shape[type.shape.rank() - 1]);
  for (std::size_t row = 0; is_target && is_float(type.dtype) && row < elements.size(); row += classes) {
    const double sum = std::accumulate(elements.begin() + static_cast<std::ptrdiff_t>(row),
                                       elements.begin() + static_cast<std::ptrdiff_t>(row + classes), 0.0);
    for (std::size_t i = row; i < row + classes; ++i) elements[i] /= sum;
  }
  return Tensor(type.shape, std::move(elements)).cast(type.dtype);
}

class Checker {
 public:
  Checker(Graph graph, std::string loss, unsigned threads) : graph_(std::move(graph)), loss_(std::move(loss)) {
    options_.threads = threads;
  }

  Result<void> draw(Rng& rng) {
    for (NodeId id : graph_.inputs()) {
      const Node& n = graph_.node(id);
      inputs_.emplace(n.name(), n.value ? n.value->tensor : drawn(rng, n.outputs[0], graph::training_of(n)));
    }
    BUDA_ASSIGN(gradients_, ops::evaluate_graph(graph_, inputs_, options_));
    // From here on the loss alone is computed.
    const std::vector<NodeId> outputs = graph_.outputs();
    for (NodeId id : outputs)
      if (graph_.node(id).name() != loss_) graph_.erase(id);
    return success();
  }

  Result<CheckedGradient> check(const std::string& parameter, Rng& rng) {
    const Tensor& tensor = gradients_.at(cat(kGradient, parameter));
    const std::vector<double> gradient(tensor.as<double>().begin(), tensor.as<double>().end());
    double largest = kSmallest;
    for (double g : gradient) largest = std::max(largest, std::abs(g));
    CheckedGradient out{parameter, "", 0, 0, -1, false};
    std::vector<double> direction(gradient.size(), 0);
    const auto along = [&](const std::string& name, double scale) -> Result<void> {
      const double slope = std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
      BUDA_ASSIGN(const double difference, nearest_difference(parameter, direction, slope));
      const double error = std::abs(difference - slope) / (largest * scale);
      if (error > out.error || !(error == error)) out = {parameter, name, slope, difference, error, false};
      return success();
    };
    for (std::size_t i : elements_of(gradient, rng)) {
      direction[i] = 1;
      BUDA_TRY(along(cat("element ", i), 1));
      direction[i] = 0;
    }
    for (double& d : direction) d = rng.below(2) == 0 ? -1 : 1;
    BUDA_TRY(along("a random direction", std::sqrt(static_cast<double>(std::max<std::size_t>(direction.size(), 1)))));
    out.agrees = out.error <= kTolerance;
    return out;
  }

 private:
  // The largest and some others.
  static std::vector<std::size_t> elements_of(const std::vector<double>& gradient, Rng& rng) {
    std::vector<std::size_t> out;
    if (gradient.empty()) return out;
    const auto most = std::max_element(gradient.begin(), gradient.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    out.push_back(static_cast<std::size_t>(most - gradient.begin()));
    while (out.size() < std::min(kMaxElements, gradient.size())) out.push_back(static_cast<std::size_t>(rng.below(gradient.size())));
    return out;
  }

  Result<double> nearest_difference(const std::string& parameter, const std::vector<double>& direction, double slope) {
    double best = 0, distance = -1;
    for (double h : kSteps) {
      BUDA_ASSIGN(const double above, loss_at(parameter, direction, h));
      BUDA_ASSIGN(const double below, loss_at(parameter, direction, -h));
      const double difference = (above - below) / (2 * h);
      if (distance >= 0 && !(std::abs(difference - slope) < distance)) continue;
      best = difference;
      distance = std::abs(difference - slope);
      if (distance <= kTolerance * std::max(std::abs(slope), kSmallest) / 10) break;
    }
    return best;
  }

  Result<double> loss_at(const std::string& parameter, const std::vector<double>& direction, double h) {
    const Tensor before = inputs_.at(parameter);
    std::vector<double> moved(before.as<double>().begin(), before.as<double>().end());
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * direction[i];
    inputs_.insert_or_assign(parameter, Tensor(before.shape(), std::move(moved)));
    auto outputs = ops::evaluate_graph(graph_, inputs_, options_);
    inputs_.insert_or_assign(parameter, before);
    if (!outputs) return std::move(outputs).failure();
    const Tensor& losses = outputs->at(loss_);
    const auto all = losses.as<double>();
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(std::max<std::size_t>(all.size(), 1));
  }

  Graph graph_;
  std::string loss_;
  ops::EvaluateOptions options_;
  NamedTensors inputs_, gradients_;
};

}  // namespace

Graph in_f64(Graph graph) {
  const auto wide = [](DType dtype) { return is_float(dtype) ? DType::f64 : dtype; };
  for (NodeId id : graph.ids()) {
    Node& n = graph.node(id);
    if (n.value) n.value = graph::Value(n.value->tensor.cast(wide(n.value->tensor.dtype())));
    if (n.is_op()) {
      n.outputs.clear();
    } else {
      for (graph::ValueType& type : n.outputs) type.dtype = wide(type.dtype);
    }
    auto dtype = n.attrs.find("dtype");
    if (dtype == n.attrs.end() || !std::holds_alternative<std::string>(dtype->second)) continue;
    const auto named = dtype_from_name(std::get<std::string>(dtype->second));
    if (named && is_float(*named)) dtype->second = std::string(dtype_name(DType::f64));
  }
  return graph;
}

Result<std::vector<CheckedGradient>> check_gradients(const TrainingStep& step, std::uint64_t seed, unsigned threads) {
  std::string loss;
  auto graph = gradients_in_f64(step, loss);
  if (!graph) {
    Diagnostic d = input_error("AG031", {}, "the gradients cannot be checked: the graph cannot be computed in F64");
    for (const Diagnostic& why : graph.failure().diagnostics()) d.notes.push_back({why.loc, why.message});
    return d;
  }
  Rng rng(seed);
  Checker checker(std::move(*graph), loss, threads);
  BUDA_TRY(checker.draw(rng));
  std::vector<CheckedGradient> out;
  for (const TrainedParameter& p : step.parameters) {
    BUDA_ASSIGN(CheckedGradient checked, checker.check(p.name, rng));
    out.push_back(std::move(checked));
  }
  return out;
}

Failure wrong_gradients(const std::vector<CheckedGradient>& checked) {
  Failure out;
  for (const CheckedGradient& c : checked) {
    if (c.agrees) continue;
    Diagnostic d = input_error("AG030", {},
                               cat("the gradient of parameter '", c.parameter, "' is wrong: along ", c.worst, " it is ",
                                   to_text(c.gradient), ", and the difference of the loss ", to_text(c.difference)));
    d.fault = Fault::mismatch;
    d.node = c.parameter;
    out.add(std::move(d));
  }
  return out;
}

}  // namespace buda::autograd
