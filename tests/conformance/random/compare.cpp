// SPDX-License-Identifier: Apache-2.0
// Comparison of outputs.
#include "compare.hpp"

#include <buda/base/text.hpp>

#include "specials.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace buda::trial {
namespace {

// What rounding to bfloat16 may change, and what is flushed to zero.
constexpr float kRelative = 0x1p-7f;
constexpr float kSmallest = 2 * std::numeric_limits<float>::min();
constexpr float kSmallestHalf = 0x1p-13f;

bool agree(float wanted, float got, DType dtype) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  if (std::isinf(wanted) || std::isinf(got)) return wanted == got;
  return std::abs(wanted - got) <= kRelative * std::abs(wanted) + (dtype == DType::f16 ? kSmallestHalf : kSmallest);
}

std::string place_text(const Shape& shape, std::size_t at) {
  std::string out = "[";
  const std::vector<std::int64_t> strides = shape.strides();
  for (std::size_t i = 0; i < shape.rank(); ++i) out += cat(i > 0 ? ", " : "", static_cast<std::int64_t>(at) / strides[i] % shape[i]);
  return out + "]";
}

std::optional<Difference> float_difference(Port port, const Tensor& wanted, const Tensor& got) {
  const std::vector<float> a = wanted.to_f32(), b = got.to_f32();
  std::size_t count = 0, first = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (agree(a[i], b[i], wanted.dtype())) continue;
    ++count;
    first = i;
  }
  if (count == 0) return std::nullopt;
  return Difference{
      port, cat(class_name(a[first]), " -> ", std::isfinite(a[first]) && std::isfinite(b[first]) ? "another" : class_name(b[first])),
      cat(output_name(port), place_text(wanted.shape(), first), " is ", static_cast<double>(b[first]), ", not ",
          static_cast<double>(a[first]), "; ", count, " of ", a.size(), " differ")};
}

std::optional<Difference> whole_difference(Port port, const Tensor& wanted, const Tensor& got) {
  if (wanted.bytes() == got.bytes()) return std::nullopt;
  const Tensor a = wanted.cast(DType::i64), b = got.cast(DType::i64);
  const auto x = a.as<std::int64_t>(), y = b.as<std::int64_t>();
  std::size_t count = 0, first = 0;
  for (std::size_t i = x.size(); i-- > 0;) {
    if (x[i] == y[i]) continue;
    ++count;
    first = i;
  }
  if (count == 0) return std::nullopt;  // booleans whose bytes differ
  return Difference{port, std::string(dtype_name(wanted.dtype())),
                    cat(output_name(port), place_text(wanted.shape(), first), " is ", y[first], ", not ", x[first], "; ", count, " of ",
                        x.size(), " differ")};
}

// Places that an op gives have to be places, whatever the numbers are.
std::optional<Difference> outside(const Recipe& recipe, Port port, const Tensor& got) {
  const Step& step = recipe.steps[port.step];
  if (step.op != "argmax" && step.op != "argmin" && !(step.op == "topk" && port.number == 1)) return std::nullopt;
  const Shape& shape = recipe.value(step.inputs[0]).shape();
  const std::int64_t size = shape[*shape.axis(std::get<std::int64_t>(step.attrs.find("dim")->second))];
  for (const std::int64_t v : got.as<std::int64_t>())
    if (v < 0 || v >= size) return Difference{port, "index out of range", cat(output_name(port), " has the index ", v, " of ", size)};
  return std::nullopt;
}

// The operand or result as the device has it; null where it is not seen.
const Tensor* seen(const Recipe& recipe, Port port, const NamedTensors& got) {
  if (recipe.steps[port.step].kind != StepKind::op) return &recipe.value(port);
  const auto found = got.find(output_name(port));
  return found == got.end() ? nullptr : &found->second;
}

bool arrived(const Recipe& recipe, Port port, const NamedTensors& got) {
  const Tensor* t = seen(recipe, port, got);
  if (t == nullptr) return false;
  const Tensor& wanted = recipe.value(port);
  return is_float(wanted.dtype()) ? !float_difference(port, wanted, *t) : !whole_difference(port, wanted, *t);
}

}  // namespace

std::optional<Difference> first_difference(const Recipe& recipe, const NamedTensors& got, Suite suite) {
  const std::vector<bool> selections = selections_only(recipe);
  for (const Port& port : recipe.outputs) {
    const Tensor& wanted = recipe.value(port);
    const auto found = got.find(output_name(port));
    if (found == got.end() || found->second.shape() != wanted.shape() || found->second.dtype() != wanted.dtype())
      return Difference{port, "another type", cat(output_name(port), " is ", found == got.end() ? "missing" : found->second.describe())};
    if (auto d = outside(recipe, port, found->second)) return d;
    if (suite == Suite::special && !selections[port.step]) continue;
    auto d = is_float(wanted.dtype()) ? float_difference(port, wanted, found->second) : whole_difference(port, wanted, found->second);
    if (d) return d;
  }
  return std::nullopt;
}

std::map<std::string, std::int64_t> class_pairs(const Recipe& recipe, const NamedTensors& got) {
  std::map<std::string, std::int64_t> out;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const Step& step = recipe.steps[i];
    const Tensor* result = seen(recipe, {i, 0}, got);
    const bool all = std::all_of(step.inputs.begin(), step.inputs.end(), [&](Port p) { return arrived(recipe, p, got); });
    if (step.kind != StepKind::op || result == nullptr || !all) continue;
    const std::vector<float> a = step.results[0].to_f32(), b = result->to_f32();
    const bool floats = is_float(step.results[0].dtype());
    for (std::size_t k = 0; k < a.size(); ++k) {
      const std::string from = floats ? class_name(a[k]) : "whole", to = floats ? class_name(b[k]) : a[k] == b[k] ? "whole" : "another";
      ++out[cat(step.op, ": ", from == to ? "as IEEE" : cat(from, " -> ", to))];
    }
  }
  return out;
}

}  // namespace buda::trial
