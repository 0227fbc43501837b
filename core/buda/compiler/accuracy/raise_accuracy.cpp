// Measure, order, try.
#include <buda/compiler/accuracy/raise_accuracy.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/accuracy/calibration.hpp>
#include <buda/compiler/accuracy/op_losses.hpp>
#include <buda/compiler/accuracy/raise_cost.hpp>
#include <buda/compiler/accuracy/raise_order.hpp>
#include <buda/compiler/accuracy/report.hpp>
#include <buda/compiler/accuracy/search.hpp>
#include <buda/io/process.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace buda::compiler {
namespace {

constexpr std::size_t kMaxTrials = 24;         // of the search
constexpr std::size_t kMaxCheaperTrials = 12;  // of other choices for what it has found
// Of the cycles of the model as it was.
constexpr double kAcceptedMore = 0.01;
// Ops with less of the loss are not worth a trial of their own.
constexpr double kNotableShare = 0.02;
// Of the loss that the floor allows, so that estimates which are a little off need no further trial.
constexpr double kAimedShare = 0.9;

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
    BUDA_TRY(measure());
    BUDA_TRY(search());
    if (best_) BUDA_TRY(cheapen());
    BUDA_TRY(try_all_alike());
    if (!best_) return cannot_reach();
    report_raised();
    return finished(all_alike_ ? std::vector<io::Node>{rule_for_all(*all_alike_)} : rules_for(raised_ops(chosen_)));
  }

 private:
  // By op of losses_: which of its raises; one more than their index, 0 for none.
  using Chosen = std::vector<std::size_t>;

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
    return try_rules(setting_, texts_of(rules), given_.inputs, given_.expected, floor_, kind, host_);
  }

  Result<void> measure() {
    const std::vector<Raise> raises = possible_raises(setting_.device, has_block_floats(base_.graph));
    BUDA_ASSIGN(losses_, op_losses(base_, given_.batch, raises, host_));
    log_losses(losses_, host_);
    for (const OpLoss& op : losses_) {
      std::vector<RaiseChoice> choices = {{0, op.loss}};
      for (const PossibleRaise& p : op.raises)
        choices.push_back({raise_cost({op.name, op.type, p.raise, op.sources}, base_, setting_.device), op.loss * p.left});
      choices_.push_back(std::move(choices));
    }
    steps_ = raise_steps(choices_);
    return success();
  }

  Chosen chosen_by(const Taken& taken) const {
    Chosen out(losses_.size(), 0);
    for (const std::size_t step : taken) out[steps_[step].op] = steps_[step].choice;
    return out;
  }

  std::vector<RaisedOp> raised_ops(const Chosen& chosen) const {
    std::vector<RaisedOp> out;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] != 0) out.push_back({losses_[i].name, losses_[i].type, losses_[i].raises[chosen[i] - 1].raise, losses_[i].sources});
    return out;
  }

  // After how many steps the loss is estimated to be what the floor allows.
  std::size_t estimated_steps() const {
    double total = 0;
    for (const OpLoss& op : losses_) total += op.loss;
    const double allowed = base_.score.has_correlation ? (1 - floor_) / std::max(1 - base_.score.correlation, 1e-12) : 0.5;
    double left = total;
    std::size_t steps = 0;
    while (steps < steps_.size() && left > total * allowed * kAimedShare) left -= steps_[steps++].saved;
    return steps;
  }

  Result<TrialVerdict> verdict_on(const Chosen& chosen) {
    if (const auto known = verdicts_.find(chosen); known != verdicts_.end()) return known->second;
    BUDA_ASSIGN(auto trial, attempt(rules_for(raised_ops(chosen)), TrialKind::other));
    TrialVerdict verdict = TrialVerdict::no_fit;
    if (trial) {
      verdict = trial->score.holds ? TrialVerdict::holds : TrialVerdict::too_little;
      log_trial(cat(raised_ops(chosen).size(), " ops raised"), *trial);
      const bool better = verdict == TrialVerdict::holds && (!best_ || trial->cycles <= best_->cycles);
      if (better) {
        chosen_ = chosen;
        best_ = std::move(*trial);
      } else if (verdict == TrialVerdict::too_little && (!nearest_ || trial->score.loss < nearest_->score.loss)) {
        nearest_ = std::move(*trial);
      }
    }
    verdicts_.emplace(chosen, verdict);
    return verdict;
  }

  Result<void> search() {
    std::vector<std::size_t> groups;
    for (const RaiseStep& step : steps_) groups.push_back(step.op);
    BUDA_TRY(fewest_steps(groups, estimated_steps(), kMaxTrials, [&](const Taken& taken) { return verdict_on(chosen_by(taken)); }));
    return success();
  }

  // Estimates of costs and losses are a little off, and placements differ: other choices for single ops, those first that are estimated to
  // save most.
  Result<void> cheapen() {
    for (std::size_t k = 0; k < kMaxCheaperTrials && costs_more();) {
      const std::optional<Chosen> next = cheaper_choice();
      if (!next) return success();
      BUDA_TRY(verdict_on(*next));
      ++k;
    }
    return success();
  }

  // So much more that further trials are worth their time.
  bool costs_more() const { return static_cast<double>(best_->cycles) > static_cast<double>(base_.cycles) * (1 + kAcceptedMore); }

  double estimated_loss(const Chosen& chosen) const {
    double out = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) out += choices_[i][chosen[i]].loss;
    return out;
  }

  // One of those that were not tried, with one op's choice changed: the cheapest. Estimates of losses may be wrong by a half.
  std::optional<Chosen> cheaper_choice() const {
    const double room = best_->score.has_correlation ? (1 - floor_) / std::max(1 - best_->score.correlation, 1e-12) : 2;
    const double most = estimated_loss(chosen_) * std::max(room, 1.0) * 1.5;
    const double whole = estimated_loss(Chosen(losses_.size(), 0));
    std::optional<Chosen> out;
    double least = 0;
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      for (std::size_t c = 0; c < choices_[i].size(); ++c) {
        if (c == chosen_[i] || (chosen_[i] == 0 && losses_[i].loss < kNotableShare * whole)) continue;
        Chosen other = chosen_;
        other[i] = c;
        const double more = choices_[i][c].cost - choices_[i][chosen_[i]].cost;
        if ((out && more >= least) || verdicts_.contains(other) || estimated_loss(other) > most) continue;
        least = more;
        out = std::move(other);
      }
    return out;
  }

  // All alike: where that is what it takes, or costs less than single raises, between which formats change.
  Result<void> try_all_alike() {
    if (best_ && !costs_more()) return success();
    for (const Raise& all : raises_of_all(setting_.device)) {
      BUDA_ASSIGN(auto trial, attempt({rule_for_all(all)}, TrialKind::other));
      if (!trial) continue;
      log_trial("all ops raised", *trial);
      if (!trial->score.holds && (!nearest_ || trial->score.loss < nearest_->score.loss)) nearest_ = *trial;
      if (!trial->score.holds || (best_ && trial->cycles >= best_->cycles)) continue;
      best_ = std::move(*trial);
      all_alike_ = all;
    }
    return success();
  }

  void log_trial(const std::string& what, const Trial& trial) {
    host_.log(1, cat("accuracy: trial ", trials_, ": ", what, ", ", trial.score.text(),
                     trial.score.holds ? cat(", ", trial.cycles, " cycles") : std::string()));
  }

  void report_raised() {
    if (all_alike_) {
      host_.log(0, cat("accuracy: all ops and values are raised: ", all_alike_->text()));
    } else {
      log_raised(raised_ops(chosen_), losses_.size(), host_);
    }
    host_.log(0, cat("accuracy: ", best_->score.text(), " after ", trials_, " trials; simulated: ", base_.cycles, " -> ", best_->cycles,
                     " cycles (", percent_text(base_.cycles, best_->cycles), ")"));
  }

  Failure cannot_reach() {
    Diagnostic d = input_error(
        "OZ022", {},
        cat("accuracy ", floor_, " cannot be reached on device '", setting_.device.name,
            "': ", nearest_ ? cat("the best of ", trials_, " trials has ", nearest_->score.text()) : "nothing that it can raise fits",
            ", output '", (nearest_ ? nearest_->score : base_.score).output, "'"));
    d.fault = Fault::mismatch;
    const auto most = std::max_element(losses_.begin(), losses_.end(), [](const OpLoss& a, const OpLoss& b) { return a.loss < b.loss; });
    if (most != losses_.end() && most->loss > 0)
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
  std::vector<std::vector<RaiseChoice>> choices_;
  std::vector<RaiseStep> steps_;
  std::map<Chosen, TrialVerdict> verdicts_;
  std::size_t trials_ = 0;
  Chosen chosen_;
  std::optional<Raise> all_alike_;  // of the best trial, instead of chosen_
  std::optional<Trial> best_;       // of those that hold
  std::optional<Trial> nearest_;    // of the others
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
