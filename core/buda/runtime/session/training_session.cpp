// SPDX-License-Identifier: Apache-2.0
// Steps with their scalars; states by name.
#include <buda/runtime/session/training_session.hpp>

#include <buda/autograd/loss_domain.hpp>
#include <buda/base/hash.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/dropout_masks.hpp>
#include <buda/runtime/inputs/state.hpp>

#include <algorithm>
#include <limits>

namespace buda::runtime {
namespace {

constexpr std::string_view kLowEnding = ".low";

constexpr std::int64_t kAllRows = std::numeric_limits<std::int64_t>::max();

bool is_low(const Port& input) { return input.tensor->training == graph::kTrainingLow; }

// Of the first `rows` of the losses, if these have a row for each of `batch` samples; else of all.
double mean(const Tensor& losses, std::int64_t rows, std::int64_t batch) {
  std::vector<float> values = losses.to_f32();
  const Shape& shape = losses.shape();
  if (rows < batch && shape.rank() > 0 && shape[0] == batch)
    values.resize(values.size() / static_cast<std::size_t>(batch) * static_cast<std::size_t>(rows));
  double sum = 0;
  for (float loss : values) sum += static_cast<double>(loss);
  return sum / static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

// What fills a batch up does not count.
std::string outside(const std::string& prediction, const NamedTensors& outputs, const std::string& loss, std::int64_t rows) {
  const auto kind = autograd::parse_loss(loss);
  const auto found = outputs.find(prediction);
  if (!kind || found == outputs.end()) return "";
  const autograd::LossDomain domain = autograd::domain_of(kind->kind);
  const std::vector<float> numbers = found->second.to_f32();
  const Shape& shape = found->second.shape();
  const std::int64_t all = shape.rank() == 0 ? 1 : std::max<std::int64_t>(shape[0], 1);
  const std::size_t counted = numbers.size() / static_cast<std::size_t>(all) * static_cast<std::size_t>(std::min(rows, all));
  for (std::size_t i = 0; i < counted; ++i)
    if (!autograd::is_in_domain(numbers[i], domain))
      return cat("the prediction '", prediction, "' has the element ", to_text(static_cast<double>(numbers[i])), ", and the loss ", loss,
                 " takes ", autograd::domain_name(domain));
  return "";
}

}  // namespace

Result<TrainingSession> TrainingSession::make(Session& session) {
  TrainingSession out(session);
  for (const Port& port : session.ports().inputs) {
    const std::string& training = port.tensor->training;
    if (training == graph::kTrainingTarget) {
      out.targets_.push_back(&port);
    } else if (training.starts_with(graph::kTrainingScalar)) {
      BUDA_ASSIGN(auto scalar,
                  autograd::parse_step_scalar(trim(std::string_view(training).substr(std::string_view(graph::kTrainingScalar).size()))));
      out.scalars_.push_back({&port, scalar});
    } else if (training.starts_with(graph::kTrainingMask)) {
      const auto ratio = parse_double(trim(std::string_view(training).substr(std::string_view(graph::kTrainingMask).size())));
      if (!ratio)
        return input_error("RT090", {}, cat("the mask '", port.tensor->name, "' does not say how much it drops: '", training, "'"));
      out.masks_.push_back({&port, *ratio});
    } else if (training.starts_with(graph::kTrainingOutputGradient)) {
      out.gradients_.push_back(&port);
    } else if (training == graph::kTrainingLearns) {
      out.learns_.push_back(&port);
    } else if (session.ports().must_be_given(port.tensor->name)) {
      out.inputs_.push_back(&port);
    }
  }
  for (const Port& port : session.ports().outputs) {
    if (port.tensor->training == graph::kTrainingLoss) out.loss_ = port.tensor->name;
    if (!port.tensor->training.starts_with(graph::kTrainingPrediction)) continue;
    out.prediction_ = &port;
    out.checked_loss_ = trim(std::string_view(port.tensor->training).substr(std::string_view(graph::kTrainingPrediction).size()));
  }
  if (!out.loss_.empty() || !out.gradients_.empty()) return out;
  Diagnostic d = input_error("RT090", {}, cat("the model '", session.plan().model, "' is not a training step: no output is its loss"));
  d.hint = "autograd makes the graph of a training step of a model's graph; buda train does all";
  return d;
}

std::int64_t TrainingSession::batch() const {
  return inputs_.empty() || inputs_.front()->shape.rank() == 0 ? 1 : inputs_.front()->shape[0];
}

std::int64_t TrainingSession::rows_given(const NamedTensors& inputs) const {
  const auto first = inputs_.empty() ? inputs.end() : inputs.find(inputs_.front()->tensor->name);
  return first == inputs.end() || first->second.shape().rank() == 0 ? batch() : first->second.shape()[0];
}

NamedTensors TrainingSession::completed(NamedTensors inputs, double rate_factor, bool learns) const {
  const std::int64_t batches = std::max<std::int64_t>(rows_given(inputs) / batch(), 1);
  const autograd::StepNumbers numbers{steps_done_ + 1, rate_factor, batches};
  for (const Mask& mask : masks_)
    inputs.insert_or_assign(mask.port->tensor->name,
                            learns ? dropout_mask(*mask.port, mask.ratio, batches, {seed_, numbers.t}) : filled(*mask.port, 1, batches));
  for (const Port* port : learns_) inputs.insert_or_assign(port->tensor->name, filled(*port, learns ? 1 : 0, batches));
  for (const Scalar& s : scalars_) {
    const Tensor value = Tensor(s.port->shape, std::vector<double>{s.scalar.value(numbers)}).cast(s.port->dtype);
    inputs.insert_or_assign(s.port->tensor->name, value);
  }
  return inputs;
}

Result<TrainingStepResult> TrainingSession::run(NamedTensors inputs, double rate_factor, std::int64_t rows, bool learns) {
  const std::int64_t given = rows_given(inputs);
  inputs = completed(std::move(inputs), rate_factor, learns);
  if (waiting_) inputs.merge(*waiting_);
  waiting_.reset();
  TrainingStepResult out;
  BUDA_ASSIGN(out.outputs, session_->step(inputs));
  out.loss = mean(out.outputs.at(loss_), rows, given);
  if (!checked_loss_.empty()) out.outside = outside(prediction_->tensor->name, out.outputs, checked_loss_, std::min(rows, given));
  return out;
}

Result<TrainingStepResult> TrainingSession::step(const NamedTensors& inputs, double rate_factor) {
  BUDA_ASSIGN(auto out, run(inputs, rate_factor, kAllRows, true));
  ++steps_done_;
  return out;
}

Result<TrainingStepResult> TrainingSession::forward(const NamedTensors& given) {
  NamedTensors inputs = completed(given, 1, true);
  // Each batch draws its masks anew.
  const MaskDraw draw{seed_, ++batches_run_};
  for (const Mask& mask : masks_) inputs.insert_or_assign(mask.port->tensor->name, dropout_mask(*mask.port, mask.ratio, 1, draw));
  // They come with backward.
  for (const Port* port : gradients_) inputs.insert_or_assign(port->tensor->name, filled(*port, 0, 1));
  if (waiting_) inputs.merge(*waiting_);
  waiting_.reset();
  TrainingStepResult out;
  BUDA_ASSIGN(out.outputs, session_->forward(inputs));
  if (loss_.empty()) return out;
  out.loss = mean(out.outputs.at(loss_), kAllRows, batch());
  if (!checked_loss_.empty()) out.outside = outside(prediction_->tensor->name, out.outputs, checked_loss_, batch());
  return out;
}

Result<NamedTensors> TrainingSession::backward(const NamedTensors& gradients, bool begins) {
  for (const Port* port : gradients_)
    if (!gradients.contains(port->tensor->name))
      return input_error("RT096", {}, cat("the gradient '", port->tensor->name, "' is missing: the host computes the loss of this model"));
  BUDA_ASSIGN(auto out, session_->backward(gradients, begins));
  batches_added_ = begins ? 1 : batches_added_ + 1;
  return out;
}

Result<void> TrainingSession::optimize(double rate_factor) {
  if (batches_added_ == 0) return input_error("RT096", {}, "no gradients have been added up: run backward before");
  const autograd::StepNumbers numbers{steps_done_ + 1, rate_factor, batches_added_};
  NamedTensors given;
  for (const Scalar& s : scalars_)
    given.insert_or_assign(s.port->tensor->name, Tensor(s.port->shape, std::vector<double>{s.scalar.value(numbers)}).cast(s.port->dtype));
  BUDA_TRY(session_->optimize(given));
  ++steps_done_;
  return success();
}

Result<void> TrainingSession::set_parameters(const NamedTensors& parameters) {
  BUDA_ASSIGN(NamedTensors all, states());
  for (const auto& [name, value] : parameters) {
    const auto state = all.find(name);
    if (state == all.end()) return input_error("RT091", {}, cat("the model has no trained parameter '", name, "'"));
    if (state->second.shape() != value.shape())
      return input_error("RT091", {},
                         cat("the parameter '", name, "' is ", value.describe(), ", and the model's is ", state->second.describe()));
    state->second = value.cast(state->second.dtype());
    if (const auto low = all.find(cat(name, kLowEnding)); low != all.end()) {
      BUDA_ASSIGN(low->second, Tensor::zeros(low->second.dtype(), low->second.shape()));
    }
  }
  waiting_ = std::move(all);
  return success();
}

Result<TrainingStepResult> TrainingSession::evaluate(const NamedTensors& inputs, std::int64_t rows) {
  if (session_->has_phases()) {
    NamedTensors all = completed(inputs, 1, false);
    if (waiting_) all.merge(*waiting_);
    waiting_.reset();
    TrainingStepResult out;
    BUDA_ASSIGN(out.outputs, session_->evaluate(all));
    out.loss = mean(out.outputs.at(loss_), rows, batch());
    return out;
  }
  BUDA_ASSIGN(NamedTensors before, states());
  BUDA_ASSIGN(auto out, run(inputs, 0, rows, false));
  waiting_ = std::move(before);
  return out;
}

Result<NamedTensors> TrainingSession::states() {
  if (waiting_) return *waiting_;
  BUDA_ASSIGN(NamedTensors by_output, session_->states());
  NamedTensors out;
  for (const StatePort& state : session_->ports().states) {
    auto now = by_output.find(state.output.tensor->name);
    if (now != by_output.end()) {
      out.emplace(state.input.tensor->name, now->second);
    } else if (state.first) {
      out.emplace(state.input.tensor->name, *state.first);
    } else {
      BUDA_ASSIGN(Tensor zeros, Tensor::zeros(state.input.dtype, state.input.shape));
      out.emplace(state.input.tensor->name, std::move(zeros));
    }
  }
  return out;
}

Result<NamedTensors> TrainingSession::parameters() {
  BUDA_ASSIGN(const NamedTensors all, states());
  NamedTensors out;
  for (const StatePort& state : session_->ports().states) {
    const std::string& name = state.input.tensor->name;
    const std::string& training = state.input.tensor->training;
    if (training != graph::kTrainingParameter && training != graph::kTrainingStatistic) continue;
    auto low = all.find(cat(name, kLowEnding));
    std::vector<double> sum;
    const Tensor high = all.at(name).cast(DType::f64);
    sum.assign(high.as<double>().begin(), high.as<double>().end());
    const bool has_low = std::any_of(session_->ports().states.begin(), session_->ports().states.end(),
                                     [&](const StatePort& s) { return is_low(s.input) && s.input.tensor->name == cat(name, kLowEnding); });
    if (has_low && low != all.end()) {
      const Tensor rest = low->second.cast(DType::f64);
      for (std::size_t i = 0; i < sum.size() && i < rest.size(); ++i) sum[i] += rest.as<double>()[i];
    }
    out.emplace(name, Tensor(all.at(name).shape(), std::move(sum)).cast(DType::f32));
  }
  return out;
}

Result<void> TrainingSession::set_states(NamedTensors given) {
  for (const StatePort& state : session_->ports().states) {
    const std::string& name = state.input.tensor->name;
    auto it = given.find(name);
    if (it == given.end()) return input_error("RT091", {}, cat("the state '", name, "' is missing"));
    if (it->second.shape() != state.input.shape || !is_float(it->second.dtype()))
      return input_error("RT091", {},
                         cat("the state '", name, "' is ", it->second.describe(), ", and the model's is ", dtype_name(state.input.dtype),
                             ' ', state.input.shape.text()));
  }
  for (const auto& [name, tensor] : given)
    if (!session_->ports().is_state(name)) return input_error("RT091", {}, cat("the model has no state '", name, "'"));
  waiting_ = std::move(given);
  return success();
}

std::uint64_t TrainingSession::digest() const {
  Fnv1a hash;
  for (const StatePort& state : session_->ports().states)
    hash.add(state.input.tensor->name).add(state.input.tensor->training).add(state.input.shape.text()).add(",");
  for (const Scalar& s : scalars_) hash.add(s.scalar.text()).add(",");
  return hash.value();
}

}  // namespace buda::runtime
