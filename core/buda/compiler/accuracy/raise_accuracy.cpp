// SPDX-License-Identifier: Apache-2.0
// Measure, order, try.
#include <buda/compiler/accuracy/raise_accuracy.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/accuracy/calibration.hpp>
#include <buda/compiler/accuracy/give_back.hpp>
#include <buda/compiler/accuracy/op_losses.hpp>
#include <buda/compiler/accuracy/raise_cost.hpp>
#include <buda/compiler/accuracy/raise_order.hpp>
#include <buda/compiler/accuracy/report.hpp>
#include <buda/compiler/accuracy/search.hpp>
#include <buda/io/process.hpp>
#include <buda/io/yaml.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace buda::compiler {
namespace {

constexpr std::size_t kMaxTrials = 24;        // of the search for single ops
constexpr std::size_t kMaxTrialsBeside = 10;  // of the same, where all alike holds already
// Of the cycles of the model as it was: so much more ends the search.
constexpr double kAcceptedMore = 0.01;
// The same where all alike holds: to look at single ops takes many times as long.
constexpr double kAcceptedOfAll = 0.05;
// Values may be so many times as large as they were on the inputs given, and Float16 would still hold them.
constexpr double kHeadroom = 8, kLargestFloat16 = 65504;

std::vector<std::string> texts_of(const std::vector<io::Node>& rules) {
  std::vector<std::string> out;
  for (const io::Node& rule : rules) out.push_back(io::yaml_flow(rule));
  return out;
}

// The user's rules one by one, in the form in which a file of options gives them.
Result<std::vector<io::Node>> rules_given(const OptimizerOptions& options) {
  std::vector<io::Node> out;
  for (const std::string& text : options.mixed_precision) {
    BUDA_ASSIGN(io::Node node, io::parse_yaml(text, ""));
    if (!node.is_list()) {
      out.push_back(std::move(node));
      continue;
    }
    for (const io::Node& item : node.items()) out.push_back(item);
  }
  return out;
}

class Raising {
 public:
  Raising(const TrialSetting& setting, Host& host) : setting_(setting), host_(host), floor_(setting.optimizer.accuracy) {}

  Result<OptimizerOptions> run() {
    BUDA_ASSIGN(given_, calibration(setting_.graph, setting_.optimizer, host_));
    BUDA_TRY(check_reference());
    BUDA_ASSIGN(auto base, attempt({}, TrialKind::first));
    // The compilation that follows says so in more words.
    if (!base) return finished({});
    base_ = std::move(*base);
    if (base_.score.holds) {
      host_.log(0, cat("accuracy: ", base_.score.text(), " without any change; ", floor_, " is asked for"));
      return finished({});
    }
    host_.log(0, cat("accuracy: ", base_.score.text(), " on the arithmetic of the device; ", floor_, " is asked for"));
    // It costs least, and takes a trial or two; but it is a choice for all values that the model may ever have, and gives up block formats.
    const bool has_room = !has_block_floats(base_.graph) && largest_value() * kHeadroom <= kLargestFloat16;
    if (has_room) BUDA_TRY(try_all_alike(true));
    if (costs_more(best(), kAcceptedOfAll)) BUDA_TRY(raise_single_ops());
    if (!has_room && best() == nullptr) BUDA_TRY(try_all_alike(true));
    if (!alike_ && costs_more(best())) BUDA_TRY(try_all_alike(false));
    if (best() == nullptr) return cannot_reach();
    report_raised();
    return finished(best()->rules);
  }

 private:
  // By op of losses_: which of its choices, 0 for none.
  using Chosen = std::vector<std::size_t>;

  // What holds.
  struct Held {
    Trial trial;
    std::vector<io::Node> rules;
    Chosen chosen;     // of single ops
    std::string what;  // of all alike
  };

  const Held* best() const {
    if (single_ && alike_) return single_->trial.cycles < alike_->trial.cycles ? &*single_ : &*alike_;
    return single_ ? &*single_ : alike_ ? &*alike_ : nullptr;
  }

  // A model that is not what is expected in fp32 either is not mended by formats.
  Result<void> check_reference() {
    BUDA_ASSIGN(const Score score, score_outputs(given_.expected, given_.reference, floor_));
    if (score.holds) return success();
    const std::string found = score.has_correlation ? cat("the model in fp32 has ", score.text(), " (output '", score.output, "')")
                                                    : cat("in fp32, ", score.text());
    Diagnostic d = input_error("OZ022", {setting_.optimizer.expect}, cat("accuracy ", floor_, " cannot be reached: ", found));
    d.fault = Fault::mismatch;
    d.hint = "check that the expected outputs are those of these inputs; without --expect the outputs in fp32 are the reference";
    return d;
  }

  Result<std::optional<Trial>> attempt(const std::vector<io::Node>& rules, TrialKind kind) {
    host_.progress("raising accuracy: trial", trials_, 0);
    ++trials_;
    BUDA_ASSIGN(auto trial, try_rules(setting_, texts_of(rules), given_.inputs, given_.expected, floor_, kind, host_));
    // A plan that stalls is no worse than the model as it was only where that stalls, too: the compilation that follows warns of it.
    if (kind == TrialKind::other && trial && !trial->is_simulated && base_.is_simulated) return std::optional<Trial>();
    return trial;
  }

  // Of what ops made on the device.
  double largest_value() const {
    double out = 0;
    for (const auto& [name, tensor] : base_.run.ops) {
      const Tensor values = tensor.cast(DType::f32);
      for (const float v : values.as<float>())
        if (std::isfinite(v)) out = std::max(out, std::fabs(static_cast<double>(v)));
    }
    return out;
  }

  // So much more than the model as it was that further trials are worth their time; also where nothing holds.
  bool costs_more(const Held* held, double accepted = kAcceptedMore) const {
    return held == nullptr || static_cast<double>(held->trial.cycles) > static_cast<double>(base_.cycles) * (1 + accepted);
  }

  // In formats of 16 bits, or in Float32. The first that holds is the cheapest.
  Result<void> try_all_alike(bool in_16_bits) {
    for (const Raise& all : raises_of_all(setting_.device)) {
      if ((bits_per_datum(*all.output) == 16) != in_16_bits) continue;
      const std::vector<io::Node> rules{rule_for_all(all)};
      BUDA_ASSIGN(auto trial, attempt(rules, TrialKind::other));
      if (!trial) continue;
      log_trial(cat("all ops raised, ", all.text()), *trial);
      if (!trial->score.holds) {
        note_failed(std::move(*trial));
        continue;
      }
      alike_ = Held{std::move(*trial), rules, {}, all.text()};
      return success();
    }
    return success();
  }

  Result<void> raise_single_ops() {
    BUDA_TRY(measure());
    BUDA_TRY(search());
    if (single_) BUDA_TRY(give_back());
    return success();
  }

  Result<void> measure() {
    const std::vector<Raise> raises = possible_raises(setting_.device, has_block_floats(base_.graph));
    BUDA_ASSIGN(losses_, op_losses(base_, given_.batch, floor_, raises, host_));
    for (const auto& [output, m] : base_.score.misses) misses_.push_back(std::isfinite(m) ? m : 1);
    log_losses(losses_, misses_, host_);
    for (const OpLoss& op : losses_) {
      RaisableOp raisable{op.effects, {{0, 1}}};
      for (const PossibleRaise& p : op.raises)
        raisable.choices.push_back({raise_cost({op.name, op.type, p.raise, op.sources}, base_, setting_.device), p.left});
      raisable_.push_back(std::move(raisable));
    }
    raisable_ = scaled_to(std::move(raisable_), misses_);
    order_ = raise_order(raisable_, misses_);
    return success();
  }

  std::vector<RaisedOp> raised_ops(const Chosen& chosen) const {
    std::vector<RaisedOp> out;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] != 0) out.push_back({losses_[i].name, losses_[i].type, losses_[i].raises[chosen[i] - 1].raise, losses_[i].sources});
    return out;
  }

  Result<TrialVerdict> verdict_on(const Chosen& chosen) {
    if (const auto known = verdicts_.find(chosen); known != verdicts_.end()) return known->second;
    const std::vector<io::Node> rules = rules_for(raised_ops(chosen));
    BUDA_ASSIGN(auto trial, attempt(rules, TrialKind::other));
    TrialVerdict verdict = TrialVerdict::no_fit;
    if (trial) {
      verdict = trial->score.holds ? TrialVerdict::holds : TrialVerdict::too_little;
      log_trial(cat(raised_ops(chosen).size(), " ops raised"), *trial);
      if (verdict == TrialVerdict::too_little) {
        note_failed(std::move(*trial));
      } else if (!single_ || trial->cycles <= single_->trial.cycles) {
        single_ = Held{std::move(*trial), rules, chosen, {}};
      }
    }
    verdicts_.emplace(chosen, verdict);
    return verdict;
  }

  Result<void> search() {
    std::vector<std::size_t> groups;
    for (const RaiseStep& step : order_.steps) groups.push_back(step.op);
    auto attempt_steps = [&](const Taken& taken) {
      Chosen chosen(losses_.size(), 0);
      for (const std::size_t step : taken) chosen[order_.steps[step].op] = order_.steps[step].choice;
      return verdict_on(chosen);
    };
    BUDA_TRY(fewest_steps(groups, order_.enough, alike_ ? kMaxTrialsBeside : kMaxTrials, attempt_steps));
    return success();
  }

  // What the order has raised without need: effects and costs are estimates, and not all that came before the last step was needed.
  Result<void> give_back() {
    GivingBack giving(raisable_);
    while (costs_more(&*single_)) {
      std::vector<double> left;
      for (const auto& [output, m] : single_->trial.score.misses) left.push_back(1 - m);
      const std::optional<Chosen> next = giving.next(single_->chosen, left);
      if (!next) return success();
      const std::int64_t before = single_->trial.cycles;
      BUDA_ASSIGN(const TrialVerdict verdict, verdict_on(*next));
      giving.learn(verdict == TrialVerdict::holds && single_->chosen == *next && single_->trial.cycles <= before);
    }
    return success();
  }

  void note_failed(Trial trial) {
    if (!nearest_ || trial.score.largest_miss() < nearest_->score.largest_miss()) nearest_ = std::move(trial);
  }

  void log_trial(const std::string& what, const Trial& trial) {
    host_.log(1, cat("accuracy: trial ", trials_, ": ", what, ", ", trial.score.text(),
                     trial.score.holds ? cat(", ", trial.cycles, " cycles") : std::string()));
  }

  void report_raised() {
    const Held& best = *this->best();
    if (best.chosen.empty()) {
      host_.log(0, cat("accuracy: all ops and values are raised: ", best.what));
    } else {
      log_raised(raised_ops(best.chosen), losses_.size(), host_);
    }
    host_.log(0, cat("accuracy: ", best.trial.score.text(), " after ", trials_, " trials; ",
                     base_.is_simulated ? "simulated: " : "estimated, since its simulation stalls: ", base_.cycles, " -> ",
                     best.trial.cycles, " cycles (", percent_text(base_.cycles, best.trial.cycles), ")"));
  }

  Failure cannot_reach() {
    Diagnostic d = input_error(
        "OZ022", {},
        cat("accuracy ", floor_, " cannot be reached on device '", setting_.device.name,
            "': ", nearest_ ? cat("the best of ", trials_, " trials has ", nearest_->score.text()) : "nothing that it can raise fits",
            ", output '", (nearest_ ? nearest_->score : base_.score).output, "'"));
    d.fault = Fault::mismatch;
    const std::vector<double> shares = shares_of_loss(losses_, misses_);
    const auto largest = std::max_element(shares.begin(), shares.end());
    const auto most = losses_.begin() + (largest - shares.begin());
    if (most != losses_.end() && *largest > 0)
      d.hint = cat("most is lost by op '", most->name, "'; run it on the host: ", io::shell_line({"--cpu-fallback-nodes", most->name}));
    return d;
  }

  Result<OptimizerOptions> finished(const std::vector<io::Node>& rules) {
    OptimizerOptions out = setting_.optimizer;
    BUDA_ASSIGN(std::vector<io::Node> all, rules_given(out));
    all.insert(all.end(), rules.begin(), rules.end());
    if (!out.accuracy_rules.empty()) BUDA_TRY(host_.fs().write(out.accuracy_rules, rules_text(all), host_.write_mode));
    if (!out.accuracy_rules.empty() && !rules.empty())
      host_.log(1, cat("accuracy: ", out.accuracy_rules, " has the rules: --config ", out.accuracy_rules));
    out.mixed_precision = texts_of(all);
    out.accuracy = 0;
    out.calibrate = out.expect = out.accuracy_rules = "";
    return out;
  }

  const TrialSetting& setting_;
  Host& host_;
  double floor_;
  Calibration given_;
  Trial base_;
  std::vector<OpLoss> losses_;
  std::vector<double> misses_;  // by output, of the model as it is
  std::vector<RaisableOp> raisable_;
  RaiseOrder order_;
  std::map<Chosen, TrialVerdict> verdicts_;
  std::size_t trials_ = 0;
  std::optional<Held> alike_, single_;  // the best of each
  std::optional<Trial> nearest_;        // of those that do not hold
};

}  // namespace

Result<bool> asks_for_accuracy(const OptimizerOptions& o) {
  if (o.accuracy > 0 && o.calibrate.empty())
    return usage_error("OZ020", "option --accuracy needs inputs to measure it on: --calibrate INPUTS.npz");
  if (o.accuracy > 0 || (o.calibrate.empty() && o.expect.empty() && o.accuracy_rules.empty())) return o.accuracy > 0;
  const char* given = !o.calibrate.empty() ? "calibrate" : !o.expect.empty() ? "expect" : "accuracy-rules";
  Diagnostic d = usage_error("OZ020", cat("option --", given, " has no effect without --accuracy"));
  d.hint = "--accuracy 0.99";
  return d;
}

Result<OptimizerOptions> raise_accuracy(const TrialSetting& setting, Host& host) { return Raising(setting, host).run(); }

}  // namespace buda::compiler
