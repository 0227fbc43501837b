// SPDX-License-Identifier: Apache-2.0
// The built-in losses.
#include <buda/autograd/loss.hpp>

#include <buda/autograd/spec.hpp>
#include <buda/autograd/term.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace buda::autograd {
namespace {

constexpr std::string_view kLossOption = "option --loss";

std::int64_t last_axis(const Term& x) { return static_cast<std::int64_t>(x.shape().rank()) - 1; }

Term nll(const Loss&, const Term& likely, const Term& target) {
  const Term weighted = target * likely;
  return -weighted.sum({last_axis(likely)});
}

// A target whose probabilities are all 0 counts for nothing, also where labels are smoothed.
Term cross_entropy(const Loss& loss, const Term& logits, const Term& target) {
  const std::int64_t axis = last_axis(logits);
  const double smoothing = loss.label_smoothing;
  Term wanted = target;
  if (smoothing != 0) {
    const Term share = target.sum({axis}) * (smoothing / static_cast<double>(logits.shape()[static_cast<std::size_t>(axis)]));
    wanted = target * (1 - smoothing) + share;
  }
  return nll(loss, logits.op("log_softmax", {{"dim", axis}}), wanted);
}

Term squared_error(const Loss&, const Term& prediction, const Term& target) {
  const Term difference = prediction - target;
  return difference * difference;
}

Term absolute_error(const Loss&, const Term& prediction, const Term& target) { return (prediction - target).op("abs"); }

// Of size a: a^2 / 2 up to the limit, and from there on straight: q (a - q / 2), q being a, at most the limit.
Term rounded_error(const Term& prediction, const Term& target, double limit) {
  const Term size = (prediction - target).op("abs");
  const Term limited = size.op("clip", {{"max", limit}});
  return limited * (size - limited * 0.5);
}

Term smooth_l1(const Loss& loss, const Term& prediction, const Term& target) {
  if (loss.beta == 0) return absolute_error(loss, prediction, target);
  return rounded_error(prediction, target, loss.beta) * (1 / loss.beta);
}

Term huber(const Loss& loss, const Term& prediction, const Term& target) { return rounded_error(prediction, target, loss.delta); }

// -t log p - (1 - t) log(1 - p), with probabilities that are not below the smallest one here.
Term binary_cross_entropy(const Loss&, const Term& p, const Term& target) {
  constexpr double kSmallestProbability = 1e-12;
  const auto logarithm = [&](const Term& x) { return x.op("clip", {{"min", kSmallestProbability}}).op("log"); };
  const Term is = target * logarithm(p);
  const Term rest = 1.0 - target;
  const Term is_not = rest * logarithm(1.0 - p);
  return -(is + is_not);
}

// (1 - t) x + (1 + (w - 1) t) log(1 + e^-x).
Term binary_cross_entropy_of_logits(const Loss& loss, const Term& x, const Term& target) {
  const Term straight = (1.0 - target) * x;
  const Term bend = (-x).op("softplus");
  if (loss.pos_weight == 1) return straight + bend;
  const Term weight = target * (loss.pos_weight - 1) + 1.0;
  return straight + weight * bend;
}

// t (log t - prediction), which is 0 where t is.
Term divergence(const Loss& loss, const Term& likely, const Term& target) {
  const Term zero = target.number(0), one = target.number(1);
  const Term logarithm = where(target.above(zero), target, one).op("log");
  const Term each = target * (logarithm - likely);
  if (loss.batchmean == 0 || each.shape().rank() < 2) return each;
  Dims dims;
  for (std::size_t i = 1; i < each.shape().rank(); ++i) dims.push_back(static_cast<std::int64_t>(i));
  return each.sum(std::move(dims), false);
}

struct LossForm {
  std::string_view name;
  std::vector<std::pair<std::string_view, double Loss::*>> keys;
  Term (*loss)(const Loss&, const Term& prediction, const Term& target);
  double most = 1;  // of all keys
  double least = 0;
};

constexpr double kAnyNumber = std::numeric_limits<double>::max();
// A loss whose gradient would be 0 everywhere teaches nothing.
constexpr double kMinDelta = std::numeric_limits<double>::min();

// By kind.
const std::vector<LossForm>& loss_forms() {
  static const std::vector<LossForm> all = {
      {"cross_entropy", {{"label_smoothing", &Loss::label_smoothing}}, cross_entropy},
      {"mse", {}, squared_error},
      {"nll", {}, nll},
      {"l1", {}, absolute_error},
      {"smooth_l1", {{"beta", &Loss::beta}}, smooth_l1, kAnyNumber},
      {"huber", {{"delta", &Loss::delta}}, huber, kAnyNumber, kMinDelta},
      {"bce", {}, binary_cross_entropy},
      {"bce_with_logits", {{"pos_weight", &Loss::pos_weight}}, binary_cross_entropy_of_logits, kAnyNumber},
      {"kl_div", {{"batchmean", &Loss::batchmean}}, divergence}};
  return all;
}

bool is_over_classes(LossKind kind) { return kind == LossKind::cross_entropy || kind == LossKind::nll; }

}  // namespace

Result<Loss> parse_loss(std::string_view text) {
  std::vector<std::string> names;
  for (const LossForm& form : loss_forms()) names.emplace_back(form.name);
  const auto form = std::find_if(loss_forms().begin(), loss_forms().end(), [&](const LossForm& f) { return f.name == spec_name(text); });
  if (form == loss_forms().end()) {
    std::sort(names.begin(), names.end());
    return unknown_name(text, kLossOption, names);
  }
  Loss out;
  out.kind = static_cast<LossKind>(form - loss_forms().begin());
  std::vector<SpecNumber> numbers;
  for (const auto& [name, member] : form->keys) numbers.push_back({name, &(out.*member), form->least, form->most});
  BUDA_TRY(read_numbers(text, kLossOption, numbers));
  return out;
}

std::string_view loss_name(LossKind kind) { return loss_forms()[static_cast<std::size_t>(kind)].name; }

std::string_view op_before(LossKind kind) {
  switch (kind) {
    case LossKind::cross_entropy:
      return "softmax";
    case LossKind::bce:
      return "sigmoid";
    default:
      return "";
  }
}

LossKind of_input(LossKind kind) { return kind == LossKind::bce ? LossKind::bce_with_logits : kind; }

Result<graph::Graph> loss_graph(const Loss& loss, const graph::ValueType& prediction) {
  const LossForm& form = loss_forms()[static_cast<std::size_t>(loss.kind)];
  ops::Builder b("loss");
  const Term x(b, b.input("prediction", prediction.shape, prediction.dtype)),
      target(b, b.input("target", prediction.shape, prediction.dtype));
  if (is_over_classes(loss.kind) && prediction.shape.rank() == 0)
    return input_error("AG013", {},
                       cat("the loss ", form.name, " needs a prediction with an axis of classes, and this is a single number"));
  b.output("loss", form.loss(loss, x, target).value());
  return b.finish();
}

}  // namespace buda::autograd
