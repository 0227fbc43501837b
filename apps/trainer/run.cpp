// SPDX-License-Identifier: Apache-2.0
// The loop: epochs, steps, schedule, validation, checkpoints.
#include "apps/trainer/run.hpp"

#include "apps/trainer/checkpoint.hpp"
#include "apps/trainer/data.hpp"
#include "apps/trainer/opened.hpp"
#include "apps/trainer/times.hpp"

#include <buda/autograd/schedule.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/cli/signals.hpp>
#include <buda/io/json.hpp>
#include <buda/io/log_file.hpp>
#include <buda/io/process.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace buda::trainer {
namespace {

using Clock = std::chrono::steady_clock;

std::string digits(double value, const char* format) {
  std::string out(64, '\0');
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), format, value)));
  return out;
}

// Four decimals, or as many significant digits of what is smaller than they show.
std::string loss_text(double loss) { return digits(loss, std::abs(loss) < 0.1 ? "%.4g" : "%.4f"); }

struct Validation {
  double loss = 0;
  std::optional<double> accuracy;  // of classes
};

class Trainer {
 public:
  Trainer(const Options& o, cli::ToolHost& host) : o_(o), host_(host) {}

  Result<void> run() {
    BUDA_TRY(check_tensor_path(output_path(o_)));
    BUDA_ASSIGN(schedule_, autograd::parse_schedule(o_.schedule));
    host_.progress("reading the model", 0, 0);
    BUDA_ASSIGN(opened_, open(o_, host_));
    if (!o_.check_samples) BUDA_TRY(check_values());
    BUDA_ASSIGN(data_, Data::read({o_.inputs, o_.targets, "inputs", "targets"}, training(), host_));
    if (!o_.validate.empty() || !o_.validate_targets.empty()) {
      BUDA_ASSIGN(validation_, Data::read({o_.validate, o_.validate_targets, "validate", "validate-targets"}, training(), host_));
    }
    // How many batches the model takes at a time, its graph does not say.
    if (!o_.check_samples) BUDA_TRY(check_accumulation());
    per_epoch_ = data_->rows() / rows_of_step();
    if (per_epoch_ == 0)
      return input_error(
          "TR004", {},
          cat(data_->rows() == 1 ? "there is 1 sample" : cat("there are ", data_->rows(), " samples"), ", and a batch of the model has ",
              training().batch(), o_.accumulate > 1 ? cat("; a step takes ", o_.accumulate, " of them") : ""));
    if (o_.check_samples) return success();
    if (!o_.resume.empty()) BUDA_TRY(resume(training(), host_.seed, o_.resume, host_));
    const std::int64_t all = o_.epochs * per_epoch_;
    last_ = o_.steps > 0 ? o_.steps : all;
    if (!o_.log.empty()) {
      BUDA_ASSIGN(log_, io::create_log(host_.fs(), o_.log));
    }
    if (!o_.perf.empty()) times_.begin(opened_, o_.perf, host_);
    begun_ = Clock::now();
    first_ = training().steps_done();
    if (o_.checkpoint_every == 0 && has_values())
      cli::tell_when_interrupted("no checkpoint was left; --checkpoint-every N writes one each N steps");
    while (training().steps_done() < last_) BUDA_TRY(next());
    if (has_values()) BUDA_TRY(keep());
    if (log_ != nullptr) BUDA_TRY(log_->commit());
    if (!o_.perf.empty()) BUDA_TRY(times_.write(opened_, (training().steps_done() - first_) * rows_of_step(), o_.perf, host_));
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    host_.log(
        0, cat(training().steps_done() - first_, " steps in ", digits(seconds, "%.1f"), " s; ",
               has_values() ? cat(output_path(o_), " holds the parameters") : cat(o_.perf, " holds their times, and nothing was learned")));
    return success();
  }

 private:
  runtime::TrainingSession& training() { return *opened_.training; }
  std::int64_t rows_of_step() { return training().batch() * o_.accumulate; }

  bool has_values() { return opened_.session->device() == nullptr || opened_.session->device()->has_values(); }

  // A target that gives zeros in place of results serves for times only.
  Result<void> check_values() {
    const bool wants = o_.perf.empty() || !o_.resume.empty() || !o_.log.empty() || !o_.validate.empty() || o_.checkpoint_every > 0;
    if (has_values() || !wants) return success();
    Diagnostic d = usage_error("TR009", cat("option --target: '", o_.target, "' computes no results as it is, so that nothing is learned"));
    d.hint = o_.target == "grid" ? "--set target.grid.values=exact; without it, --perf DIR alone measures the time of steps"
                                 : "--target golden; of a target with simulated time, --perf DIR alone measures the time of steps";
    return d;
  }

  Result<void> check_accumulation() {
    if (o_.accumulate > 1 && !training().accumulates()) {
      Diagnostic d = usage_error("TR008", cat("option --accumulate: a step of this model takes one batch, not ", o_.accumulate));
      d.hint = "autograd --form programs makes a step that adds up the gradients of any number of batches";
      return d;
    }
    const std::int64_t turn = opened_.session->turn();
    if (!training().accumulates() || o_.accumulate % turn == 0) return success();
    Diagnostic d = usage_error("TR008", cat("option --accumulate: the model was compiled for ", turn, " batches at a time, and ",
                                            o_.accumulate, " is not a multiple of that"));
    d.hint = cat("--accumulate ", align_up(o_.accumulate, turn));
    return d;
  }

  Result<void> next() {
    const std::int64_t t = training().steps_done() + 1, epoch = (t - 1) / per_epoch_, place = (t - 1) % per_epoch_;
    if (order_epoch_ != epoch) {
      order_epoch_ = epoch;
      order_ = order_of_epoch(data_->rows(), host_.seed, epoch);
      if (!o_.shuffle) std::sort(order_.begin(), order_.end());
      epoch_loss_ = 0;
      epoch_steps_ = 0;
    }
    const std::int64_t batch = rows_of_step();
    const auto rows =
        std::span<const std::int64_t>(order_).subspan(static_cast<std::size_t>(place * batch), static_cast<std::size_t>(batch));
    BUDA_ASSIGN(const NamedTensors inputs, data_->batch(rows));
    const double rate = schedule_.at(t, last_);
    std::optional<NamedTensors> before;
    if (opened_.graph) {
      BUDA_ASSIGN(before, training().states());
    }
    BUDA_ASSIGN(const auto step, training().step(inputs, rate));
    if (!std::isfinite(step.loss)) return not_finite(t, rows, step.loss, inputs, before);
    if (!step.outside.empty() && !told_outside_) {
      told_outside_ = true;
      Diagnostic d = warning("TR007", {}, cat("step ", t, ": ", step.outside));
      d.hint = "make the step with another loss (autograd --loss), or end the model with a sigmoid or log_softmax";
      host_.report(d);
    }
    epoch_loss_ += step.loss;
    ++epoch_steps_;
    BUDA_TRY(
        log(cat("{\"step\": ", t, ", \"epoch\": ", epoch + 1, ", \"loss\": ", to_text(step.loss), ", \"rate\": ", to_text(rate), "}\n")));
    host_.progress(has_values() ? cat("training, loss ", loss_text(step.loss)) : "running steps", static_cast<std::size_t>(t),
                   static_cast<std::size_t>(last_));
    if (o_.checkpoint_every > 0 && t % o_.checkpoint_every == 0 && t < last_) BUDA_TRY(keep());
    if (has_values() && (place + 1 == per_epoch_ || t == last_)) BUDA_TRY(end_epoch(epoch));
    return success();
  }

  Result<void> keep() {
    BUDA_TRY(write_checkpoint(training(), host_.seed, output_path(o_), host_));
    cli::tell_when_interrupted(cat(output_path(o_), " holds what step ", training().steps_done(), " made; --resume ",
                                   io::shell_line({output_path(o_)}), " goes on from there"));
    return success();
  }

  Result<void> end_epoch(std::int64_t epoch) {
    std::string text = cat("epoch ", epoch + 1, ": step ", training().steps_done(), ", mean loss ",
                           loss_text(epoch_loss_ / static_cast<double>(epoch_steps_)));
    if (validation_) {
      BUDA_ASSIGN(const Validation v, validate());
      text += cat("; validation: loss ", loss_text(v.loss));
      if (v.accuracy) text += cat(", accuracy ", digits(100 * *v.accuracy, "%.2f"), " %");
      BUDA_TRY(log(cat("{\"step\": ", training().steps_done(), ", \"epoch\": ", epoch + 1, ", \"validation_loss\": ", to_text(v.loss),
                       v.accuracy ? cat(", \"accuracy\": ", to_text(*v.accuracy)) : "", "}\n")));
    }
    host_.log(0, text);
    return success();
  }

  // A last batch that is not full is filled up with zeros, which count for nothing.
  Result<Validation> validate() {
    Validation out;
    const std::int64_t rows = validation_->rows(), batch = training().batch();
    std::int64_t hits = 0;
    double weighted = 0;
    for (std::int64_t first = 0; first < rows; first += batch) {
      std::vector<std::int64_t> taken;
      for (std::int64_t row = first; row < std::min(rows, first + batch); ++row) taken.push_back(row);
      BUDA_ASSIGN(const NamedTensors inputs, validation_->batch(taken));
      BUDA_ASSIGN(const auto step, training().evaluate(inputs, static_cast<std::int64_t>(taken.size())));
      weighted += step.loss * static_cast<double>(taken.size());
      if (training().prediction() != nullptr) hits += hits_of(step.outputs.at(training().prediction()->tensor->name), taken);
    }
    out.loss = weighted / static_cast<double>(std::max<std::int64_t>(rows, 1));
    if (training().prediction() != nullptr && validation_->class_of(0) >= 0)
      out.accuracy = static_cast<double>(hits) / static_cast<double>(rows);
    return out;
  }

  std::int64_t hits_of(const Tensor& prediction, const std::vector<std::int64_t>& rows) const {
    if (prediction.shape().rank() != 2) return 0;
    const std::vector<float> values = prediction.to_f32();
    const auto classes = static_cast<std::size_t>(prediction.shape()[1]);
    std::int64_t hits = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto* row = values.data() + i * classes;
      const std::int64_t guess = std::max_element(row, row + classes) - row;
      hits += guess == validation_->class_of(rows[i]) ? 1 : 0;
    }
    return hits;
  }

  Failure not_finite(std::int64_t t, std::span<const std::int64_t> rows, double loss, const NamedTensors& inputs,
                     const std::optional<NamedTensors>& before) {
    Diagnostic d =
        input_error("TR005", {}, cat("the loss of step ", t, " (epoch ", order_epoch_ + 1, ") is ", std::isnan(loss) ? "NaN" : "infinite"));
    if (const std::string cause = data_->not_finite(rows); !cause.empty()) {
      d.notes.push_back({{}, cause});
      d.hint = "leave out the rows whose data are not finite, or replace what is not (numpy.nan_to_num)";
      return d;
    }
    if (before) {
      training().set_steps_done(t - 1);
      NamedTensors all = training().completed(inputs, schedule_.at(t, last_), true);
      NamedTensors states = *before;
      all.merge(states);
      if (const std::string op = first_not_finite(opened_, all, host_); !op.empty())
        d.notes.push_back({{}, cat("the first op whose result is not finite is ", op)});
    } else {
      d.notes.push_back({{}, "the trainer tells the first op whose result is not finite when the graph runs on target cpu"});
    }
    // The first loss does not depend on a learning rate.
    d.hint = t == 1 ? "no step has been made yet: smaller values of the inputs, or of the model's initial parameters, keep it finite"
                    : "a smaller learning rate, or --schedule constant:warmup=100, often keeps it finite";
    return d;
  }

  Result<void> log(const std::string& line) {
    if (log_ == nullptr) return success();
    return log_->write(line);
  }

  const Options& o_;
  cli::ToolHost& host_;
  autograd::Schedule schedule_;
  Opened opened_;
  std::optional<Data> data_, validation_;
  std::int64_t per_epoch_ = 0, first_ = 0, last_ = 0;
  std::int64_t order_epoch_ = -1;
  std::vector<std::int64_t> order_;
  double epoch_loss_ = 0;
  bool told_outside_ = false;  // once is enough
  std::int64_t epoch_steps_ = 0;
  std::unique_ptr<io::OutputFile> log_;  // null: none is asked for
  Times times_;
  Clock::time_point begun_;
};

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) { return Trainer(options, host).run(); }

}  // namespace buda::trainer
