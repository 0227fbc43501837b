// SPDX-License-Identifier: Apache-2.0
// Training on a session: a model whose graph is that of a training step (module autograd), step by step.
//
//   BUDA_ASSIGN(auto training, runtime::TrainingSession::make(*session));
//   BUDA_ASSIGN(auto step, training.step({{"image", images}, {"target", targets}}, 1.0));
//   … step.loss …
//   BUDA_ASSIGN(auto weights, training.parameters());
#pragma once

#include <buda/autograd/step_scalar.hpp>
#include <buda/diag/result.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

// What a step tells. The loss is the mean of all losses; it may be infinite or NaN.
struct TrainingStepResult {
  double loss = 0;
  NamedTensors outputs;  // of the model, and the losses
  // "the prediction 'y' has the element 1.5, and the loss bce takes probabilities": where the model asks for a look; else empty.
  std::string outside = {};
};

class TrainingSession {  // wide because a step runs as a whole or phase by phase, and its states go in and out
 public:
  // The session must outlive it. RT090: the model is not a training step.
  static Result<TrainingSession> make(Session& session);

  // Inputs and targets, in the model's shapes; `rate_factor` multiplies the learning rate. A step in programs takes any number of batches,
  // one behind the other along the first axis, and the mean of their gradients.
  Result<TrainingStepResult> step(const NamedTensors& inputs, double rate_factor);
  // The losses and outputs of a batch without learning from it: afterwards all states are as before. The loss is that of its first `rows`
  // samples; what fills a batch up counts for nothing.
  Result<TrainingStepResult> evaluate(const NamedTensors& inputs, std::int64_t rows);

  // The same phase by phase (Session::forward): what the forward phase of a batch gives, with its loss where the model has one; what the
  // backward phase gives of the batch that is next in turn; and the change of states. A model whose loss the host computes
  // (autograd::StepOptions::loss_on_host) takes the gradients of its outputs in backward.
  // RT096: a gradient of an output is missing, or the optimizer has no sums.
  Result<TrainingStepResult> forward(const NamedTensors& inputs);
  Result<NamedTensors> backward(const NamedTensors& gradients, bool begins);
  Result<void> optimize(double rate_factor);
  // From the next forward on. RT091: a name or a shape that is not the model's.
  Result<void> set_parameters(const NamedTensors& parameters);

  // Inputs and targets with the rest of what the next step takes: numbers, masks, and whether it learns.
  NamedTensors completed(NamedTensors inputs, double rate_factor, bool learns) const;

  // Names of what the user gives, in the model's order.
  const std::vector<const Port*>& inputs() const { return inputs_; }
  const std::vector<const Port*>& targets() const { return targets_; }
  // Where the host computes the loss: the gradients that backward takes.
  const std::vector<const Port*>& gradients() const { return gradients_; }
  // The output that the loss compares; null where the model does not say.
  const Port* prediction() const { return prediction_; }
  // Rows of a batch: the first size of the inputs.
  std::int64_t batch() const;
  // Can a step take several batches?
  bool accumulates() const { return session_->has_phases(); }

  // What the masks of dropout are drawn with, beside the number of the step.
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  std::int64_t steps_done() const { return steps_done_; }
  void set_steps_done(std::int64_t steps) { steps_done_ = steps; }

  // Trained parameters, and statistics that were measured, by name, in F32; what pairs hold is added up.
  Result<NamedTensors> parameters();
  // All states by name of their input, as they are, also before the first step.
  Result<NamedTensors> states();
  // From the next step on; names and types must be those of states(). RT091: they are not.
  Result<void> set_states(NamedTensors states);
  // What states a step has, and how it changes them, as a number: states of one model are not those of another.
  std::uint64_t digest() const;

 private:
  explicit TrainingSession(Session& session) : session_(&session) {}
  struct Scalar {
    const Port* port = nullptr;
    autograd::StepScalar scalar;
  };

  struct Mask {
    const Port* port = nullptr;
    double ratio = 0;
  };

  std::int64_t rows_given(const NamedTensors& inputs) const;
  Result<TrainingStepResult> run(NamedTensors inputs, double rate_factor, std::int64_t rows, bool learns);

  Session* session_;
  std::vector<const Port*> inputs_, targets_, gradients_;
  std::vector<Scalar> scalars_;
  std::vector<Mask> masks_;
  std::vector<const Port*> learns_;
  const Port* prediction_ = nullptr;
  std::string checked_loss_;  // takes numbers that the prediction is not known to hold; empty: there is nothing to look at
  std::string loss_;
  std::int64_t steps_done_ = 0;
  std::int64_t batches_run_ = 0, batches_added_ = 0;  // phase by phase: all that forward took, and those of the sums
  std::uint64_t seed_ = 0;
  std::optional<NamedTensors> waiting_;  // states that the next step begins with
};

}  // namespace buda::runtime

#pragma GCC visibility pop
