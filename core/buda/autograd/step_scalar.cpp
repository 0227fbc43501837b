// SPDX-License-Identifier: Apache-2.0
// Values and texts of scalars.
#include <buda/autograd/step_scalar.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace buda::autograd {
namespace {

using Member = std::pair<std::string_view, double StepScalar::*>;

struct Form {
  ScalarKind kind;
  std::string_view name;
  std::vector<Member> members;
};

const std::array<Form, 9>& forms() {
  static const std::array<Form, 9> all = {
      {{ScalarKind::rate, "rate", {{"lr", &StepScalar::lr}}},
       {ScalarKind::decay, "decay", {{"lr", &StepScalar::lr}, {"decay", &StepScalar::decay}}},
       {ScalarKind::adam_rate, "adam_rate", {{"lr", &StepScalar::lr}, {"beta1", &StepScalar::beta1}, {"beta2", &StepScalar::beta2}}},
       {ScalarKind::adam_epsilon, "adam_epsilon", {{"epsilon", &StepScalar::epsilon}, {"beta2", &StepScalar::beta2}}},
       {ScalarKind::adam_correction, "adam_correction", {{"beta1", &StepScalar::beta1}, {"beta2", &StepScalar::beta2}}},
       {ScalarKind::falling_rate, "falling_rate", {{"lr", &StepScalar::lr}, {"lr_decay", &StepScalar::lr_decay}}},
       {ScalarKind::share, "share", {}},
       {ScalarKind::moving, "moving", {{"part", &StepScalar::part}}},
       {ScalarKind::step, "step", {}}}};
  return all;
}

double corrected(double beta, std::int64_t t) { return 1 - std::pow(beta, static_cast<double>(t)); }

}  // namespace

double StepScalar::value(const StepNumbers& step) const {
  const std::int64_t t = step.t;
  const double factor = step.rate_factor;
  switch (kind) {
    case ScalarKind::rate:
      return lr * factor;
    case ScalarKind::decay:
      return lr * factor * decay;
    case ScalarKind::adam_rate:
      return lr * factor * std::sqrt(corrected(beta2, t)) / corrected(beta1, t);
    case ScalarKind::adam_epsilon:
      return epsilon * std::sqrt(corrected(beta2, t));
    case ScalarKind::adam_correction:
      return std::sqrt(corrected(beta2, t)) / corrected(beta1, t);
    case ScalarKind::falling_rate:
      return lr * factor / (1 + static_cast<double>(t - 1) * lr_decay);
    case ScalarKind::share:
      return 1 / static_cast<double>(step.batches);
    case ScalarKind::moving:
      return 1 - std::pow(1 - part, static_cast<double>(step.batches));
    case ScalarKind::step:
      return static_cast<double>(t);
  }
  return 0;
}

std::string StepScalar::text() const {
  const Form& form = forms()[static_cast<std::size_t>(kind)];
  std::string out(form.name);
  for (const auto& [name, member] : form.members) out += cat(' ', name, '=', to_text(this->*member));
  return out;
}

Result<StepScalar> parse_step_scalar(std::string_view text) {
  const auto wrong = [&] { return input_error("AG012", {}, cat("'", text, "' does not say how a scalar of a training step is computed")); };
  const auto words = split(text, ' ');
  auto form = std::find_if(forms().begin(), forms().end(), [&](const Form& f) { return !words.empty() && f.name == words[0]; });
  if (form == forms().end() || words.size() != form->members.size() + 1) return wrong();
  StepScalar out;
  out.kind = form->kind;
  for (std::size_t i = 0; i < form->members.size(); ++i) {
    const auto& [name, member] = form->members[i];
    const std::string_view word = words[i + 1];
    const auto value = word.starts_with(cat(name, '=')) ? parse_double(word.substr(name.size() + 1)) : std::nullopt;
    if (!value) return wrong();
    out.*member = *value;
  }
  return out;
}

}  // namespace buda::autograd
