// SPDX-License-Identifier: Apache-2.0
// Drawn special values, and the ops that meet them.
#include "specials.hpp"

#include "growing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace buda::trial {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
constexpr const char* kKinds[] = {"nan", "inf", "-inf", "-0", "denormal", "largest"};
constexpr float kLargestHalf = 65504;

std::string kind_of(float v, DType dtype) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  if (v == 0) return std::signbit(v) ? "-0" : "";
  const bool half = dtype == DType::f16;
  if (std::abs(v) < (half ? 0x1p-14f : std::numeric_limits<float>::min())) return "denormal";
  // Of more bits than bfloat16 has, so that rounding to it overflows.
  return std::abs(v) == (half ? kLargestHalf : std::numeric_limits<float>::max()) ? "largest" : "";
}

class SpecialPool {
 public:
  explicit SpecialPool(std::uint64_t seed) : g_(seed) {
    dtype_ = g_.chance(20) ? DType::f16 : DType::f32;
    for (const char* kind : kKinds)
      if (g_.chance(35)) kinds_.emplace_back(kind);
    wide_ = g_.chance(25);
  }

  Growing& growing() { return g_; }

  float number() {
    const bool half = dtype_ == DType::f16;
    const float sign = g_.chance(50) ? 1.0f : -1.0f;
    if (!kinds_.empty() && g_.chance(25)) return special(kinds_[g_.pick(kinds_.size())], sign);
    if (!wide_ && g_.chance(70)) return sign * static_cast<float>(g_.pick(33)) / 8;
    const int reach = half ? 12 : wide_ ? 120 : 20;
    if (g_.chance(5)) return sign * (half ? 65280.0f : std::bit_cast<float>(0x7f7f0000u));  // the largest with 8 bits
    return sign * std::ldexp(static_cast<float>(128 + g_.pick(128)), static_cast<int>(g_.between(-reach, reach)) - (half ? 9 : 7));
  }

  Tensor numbers(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(*shape.volume()));
    for (float& v : values) v = number();
    return Tensor(shape, std::move(values)).cast(dtype_);
  }

  Port source(const Shape& shape) {
    Tensor values = numbers(shape);
    return g_.chance(25) ? g_.constant(std::move(values)) : g_.input(std::move(values));
  }
  Port scalar(float value) { return g_.constant(Tensor::scalar<float>(value).cast(dtype_)); }

  Port floats() {
    auto found = g_.some([&](const Tensor& t) { return t.dtype() == dtype_; });
    if (found) return *found;
    return g_.input(numbers(g_.any_shape()));
  }
  Port operand_for(Port x) {
    if (g_.chance(30)) {
      auto found = g_.some([&](const Tensor& t) { return t.dtype() == dtype_ && broadcast(t.shape(), g_.shape(x)); });
      if (found) return *found;
    }
    return source(g_.meeting_shape(g_.shape(x)));
  }
  Port condition_for(Port x) {
    auto found = g_.some([&](const Tensor& t) { return t.dtype() == DType::boolean && broadcast(t.shape(), g_.shape(x)); });
    if (found && g_.chance(70)) return *found;
    const Shape shape = g_.meeting_shape(g_.shape(x));
    std::vector<std::int64_t> bits(static_cast<std::size_t>(*shape.volume()));
    for (std::int64_t& b : bits) b = static_cast<std::int64_t>(g_.pick(2));
    return g_.input(Tensor(shape, std::move(bits)).cast(DType::boolean));
  }

  void step(bool selections);

 private:
  float special(const std::string& kind, float sign) const {
    const bool half = dtype_ == DType::f16;
    if (kind == "nan") return kNaN;
    if (kind == "inf") return kInf;
    if (kind == "-inf") return -kInf;
    if (kind == "-0") return -0.0f;
    if (kind == "denormal") return sign * (half ? 0x1p-20f : std::bit_cast<float>(0x00400000u));
    return sign * (half ? kLargestHalf : std::numeric_limits<float>::max());
  }

  void extremes(Port x);
  void searches(Port x);
  void cleaned(Port x);
  void masked_softmax(Port x);

  Growing g_;
  DType dtype_ = DType::f32;
  std::vector<std::string> kinds_;
  bool wide_ = false;
};

void SpecialPool::extremes(Port x) {
  static constexpr const char* kReduces[] = {"reduce_max", "reduce_min"};
  if (g_.shape(x).rank() == 0) return;
  g_.op(g_.one_of(kReduces), {x}, {{"dims", std::vector<std::int64_t>{g_.any_axis(g_.value(x))}}, {"keep_dims", g_.chance(60)}});
}

void SpecialPool::searches(Port x) {
  if (g_.shape(x).rank() == 0) return;
  const std::int64_t axis = g_.any_axis(g_.value(x));
  if (g_.chance(60)) {
    g_.op(g_.chance(60) ? "argmax" : "argmin", {x}, {{"dim", axis}, {"last", g_.chance(20)}});
    return;
  }
  const std::int64_t size = g_.shape(x)[*g_.shape(x).axis(axis)];
  g_.op("topk", {x}, {{"dim", axis}, {"k", g_.chance(50) ? size : g_.between(1, size)}, {"largest", g_.chance(60)}});
}

// nan_to_num in the forms in which exporters write it.
void SpecialPool::cleaned(Port x) {
  const float most = dtype_ == DType::f16 ? 65280.0f : std::bit_cast<float>(0x7f7f0000u);
  std::optional<Port> nan;
  if (g_.chance(70)) {
    nan = g_.op("is_nan", {x});
  } else if (auto same = g_.op("equal", {x, x})) {
    nan = g_.op("logical_not", {*same});
  }
  auto y = nan ? g_.op("where", {*nan, scalar(g_.chance(70) ? 0.0f : 7.0f), x}) : std::nullopt;
  if (!y || g_.chance(30)) return;
  const bool tested = g_.chance(60);
  for (const float sign : {1.0f, -1.0f}) {
    auto infinite =
        tested ? g_.op("is_inf", {*y}, {{"positive", sign > 0}, {"negative", sign < 0}}) : g_.op("equal", {*y, scalar(sign * kInf)});
    if (infinite) y = g_.op("where", {*infinite, scalar(sign * most), *y});
    if (!y) return;
  }
}

void SpecialPool::masked_softmax(Port x) {
  if (g_.shape(x).rank() == 0) return;
  auto masked = g_.op("where", {condition_for(x), x, scalar(-kInf)});
  if (masked) g_.op("softmax", {*masked}, {{"dim", std::int64_t{-1}}});
}

void SpecialPool::step(bool selections) {
  static constexpr const char* kComparisons[] = {"equal", "less", "less_equal", "greater", "greater_equal"};
  static constexpr const char* kLoose[] = {"abs", "negative", "relu", "exp", "log"};
  static constexpr const char* kLooseBinary[] = {"add", "subtract", "multiply", "divide"};
  const Port x = floats();
  switch (g_.pick(selections ? 12 : 18)) {
    case 0:
    case 1:
      g_.op("where", {condition_for(x), x, operand_for(x)});
      return;
    case 2:
      g_.op("triangle", {x}, {{"upper", g_.chance(50)}, {"diagonal", g_.between(-3, 3)}});
      return;
    case 3:
    case 4: {
      graph::AttrMap attrs;
      const std::size_t sides = g_.pick(4);
      if (sides != 1) attrs["min"] = -static_cast<double>(g_.pick(9)) / 4;
      if (sides != 2) attrs["max"] = static_cast<double>(g_.pick(9)) / 4;
      g_.op("clip", {x}, std::move(attrs));
      return;
    }
    case 5:
    case 6:
      g_.op(g_.chance(50) ? "maximum" : "minimum", {x, operand_for(x)});
      return;
    case 7:
      return extremes(x);
    case 8:
      return searches(x);
    case 9:
    case 10:
      g_.op(g_.one_of(kComparisons), {x, operand_for(x)});
      return;
    case 11:
      return cleaned(x);
    case 12:
    case 13:
    case 14:
      g_.op(g_.one_of(kLoose), {x});
      return;
    case 15:
      return masked_softmax(x);
    default:
      g_.op(g_.one_of(kLooseBinary), {x, operand_for(x)});
  }
}

}  // namespace

Recipe special_recipe(std::uint64_t seed) {
  SpecialPool pool(seed);
  Growing& g = pool.growing();
  constexpr int kMaxTrials = 40;
  const bool selections = g.chance(60);
  const bool all_results = g.chance(40);
  const std::size_t wanted = 1 + g.pick(g.chance(50) ? 2 : 6);
  for (int i = 0; i < kMaxTrials && g.ops() < wanted; ++i) pool.step(selections);
  Recipe recipe = g.finish();
  if (!all_results) return recipe;
  recipe.outputs.clear();
  for (std::size_t i = 0; i < recipe.steps.size(); ++i)
    for (std::size_t k = 0; recipe.steps[i].kind == StepKind::op && k < recipe.steps[i].results.size(); ++k)
      recipe.outputs.push_back({i, k});
  return recipe;
}

bool is_selection(const std::string& op) {
  static const std::array<const char*, 20> kSelections = {"where",       "triangle",   "clip",          "maximum",     "minimum",
                                                          "argmax",      "argmin",     "topk",          "equal",       "less",
                                                          "less_equal",  "greater",    "greater_equal", "is_nan",      "is_inf",
                                                          "logical_not", "reduce_max", "reduce_min",    "logical_and", "logical_or"};
  return std::find(kSelections.begin(), kSelections.end(), op) != kSelections.end();
}

std::vector<bool> selections_only(const Recipe& recipe) {
  std::vector<bool> out;
  for (const Step& step : recipe.steps) {
    bool only = step.kind != StepKind::op || is_selection(step.op);
    for (const Port& p : step.inputs) only = only && out[p.step];
    out.push_back(only);
  }
  return out;
}

const char* class_name(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "+inf" : "-inf";
  return "finite";
}

std::vector<std::string> specials_in(const Recipe& recipe) {
  std::vector<std::string> out;
  for (const Step& step : recipe.steps) {
    if (step.kind == StepKind::op || !is_float(step.results[0].dtype())) continue;
    for (const float v : step.results[0].to_f32()) {
      std::string kind = kind_of(v, step.results[0].dtype());
      if (!kind.empty() && std::find(out.begin(), out.end(), kind) == out.end()) out.push_back(std::move(kind));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<Recipe> without_special(Recipe recipe, const std::string& kind) {
  for (Step& step : recipe.steps) {
    if (step.kind == StepKind::op || !is_float(step.results[0].dtype())) continue;
    const DType dtype = step.results[0].dtype();
    std::vector<float> values = step.results[0].to_f32();
    for (float& v : values)
      if (kind_of(v, dtype) == kind) v = 1;
    step.results[0] = Tensor(step.results[0].shape(), std::move(values)).cast(dtype);
  }
  return evaluated(std::move(recipe));
}

}  // namespace buda::trial
