// SPDX-License-Identifier: Apache-2.0
// Factors by step.
#include <buda/autograd/schedule.hpp>

#include <buda/autograd/spec.hpp>

#include <cmath>
#include <numbers>

namespace buda::autograd {
namespace {

constexpr std::string_view kScheduleOption = "option --schedule";
constexpr double kMaxSteps = 1e15;

}  // namespace

double Schedule::at(std::int64_t t, std::int64_t steps) const {
  const auto done = static_cast<double>(t - 1);
  const double part = steps > 1 ? done / static_cast<double>(steps - 1) : 0;
  double out = 1;
  if (kind == ScheduleKind::linear) out = 1 + (to - 1) * part;
  if (kind == ScheduleKind::cosine) out = to + (1 - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
  if (kind == ScheduleKind::polynomial) out = to + (1 - to) * std::pow(1 - part, power);
  if (kind == ScheduleKind::exponential) out = std::pow(factor, done);
  if (kind == ScheduleKind::step) out = std::pow(factor, std::floor(done / every));
  return done < warmup ? out * (done + 1) / (warmup + 1) : out;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule out;
  const std::string_view name = spec_name(text);
  std::vector<SpecNumber> numbers{{"warmup", &out.warmup, 0, kMaxSteps}};
  if (name == "linear" || name == "cosine") {
    out.kind = name == "linear" ? ScheduleKind::linear : ScheduleKind::cosine;
    numbers.push_back({"to", &out.to, 0, 1});
  } else if (name == "polynomial") {
    out.kind = ScheduleKind::polynomial;
    numbers.push_back({"to", &out.to, 0, 1});
    numbers.push_back({"power", &out.power, 0, kMaxSteps});
  } else if (name == "exponential") {
    out.kind = ScheduleKind::exponential;
    out.factor = 0.99;
    numbers.push_back({"factor", &out.factor, 0, 1});
  } else if (name == "step") {
    out.kind = ScheduleKind::step;
    numbers.push_back({"every", &out.every, 1, kMaxSteps});
    numbers.push_back({"factor", &out.factor, 0, 1});
  } else if (name != "constant") {
    return unknown_name(text, kScheduleOption, {"constant", "cosine", "exponential", "linear", "polynomial", "step"});
  }
  BUDA_TRY(read_numbers(text, kScheduleOption, numbers));
  return out;
}

}  // namespace buda::autograd
