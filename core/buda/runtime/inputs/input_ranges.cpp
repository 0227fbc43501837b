// SPDX-License-Identifier: Apache-2.0
// The given elements against the bounds.
#include <buda/runtime/inputs/input_ranges.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/io/process.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/half.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace buda::runtime {
namespace {

using graph::InputRange;

struct Outside {
  std::size_t first = 0;  // in row-major order
  std::string element;
  std::optional<InputRange> all;  // of the tensor's elements and the promised ones; none where an element is NaN or infinite
};

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min(), kLargest = std::numeric_limits<std::int64_t>::max();

// Bounds of ranges stand for what is beyond them.
std::int64_t saturated(std::uint64_t v) { return static_cast<std::int64_t>(std::min<std::uint64_t>(v, kLargest)); }
std::int64_t saturated(double v) { return v >= 0x1p63 ? kLargest : v <= -0x1p63 ? kSmallest : static_cast<std::int64_t>(v); }

template <class T>
auto widened(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(to_float(v));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(v);
  else if constexpr (std::is_unsigned_v<T>)
    return std::uint64_t{v};
  else
    return std::int64_t{v};
}

InputRange around(double v) { return {saturated(std::floor(v)), saturated(std::ceil(v))}; }
InputRange around(std::uint64_t v) { return {saturated(v), saturated(v)}; }
InputRange around(std::int64_t v) { return {v, v}; }

std::string element_text(double v) { return std::isnan(v) ? "nan" : to_text(v); }
std::string element_text(std::uint64_t v) { return cat(v); }
std::string element_text(std::int64_t v) { return cat(v); }

bool is_finite(double v) { return std::isfinite(v); }
bool is_finite(std::uint64_t) { return true; }
bool is_finite(std::int64_t) { return true; }

template <class T>
std::optional<Outside> outside(std::span<const T> elements, const InputRange& range) {
  auto is_inside = [&](T v) {
    const auto wide = widened(v);
    if (!is_finite(wide)) return false;
    const InputRange at = around(wide);
    return at.least >= range.least && at.most <= range.most;
  };
  const auto first = std::find_if_not(elements.begin(), elements.end(), is_inside);
  if (first == elements.end()) return std::nullopt;
  Outside out{static_cast<std::size_t>(first - elements.begin()), element_text(widened(*first)), range};
  for (auto at = first; at != elements.end(); ++at) {
    if (!is_finite(widened(*at))) {
      out.all.reset();
      return out;
    }
    const InputRange one = around(widened(*at));
    out.all = InputRange{std::min(out.all->least, one.least), std::max(out.all->most, one.most)};
  }
  return out;
}

std::optional<Outside> outside(const Tensor& tensor, const InputRange& range) {
  return visit_dtype(tensor.dtype(), [&](auto tag) -> std::optional<Outside> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, Boolean>)
      return std::nullopt;  // an element of another type is an error of its own
    else
      return outside(std::span<const T>(tensor.as<T>()), range);
  });
}

// " has the element 7 at [0, 3]", or of a single number " is 7".
std::string what_is_wrong(const Outside& wrong, const Shape& shape) {
  if (shape.rank() == 0) return cat(" is ", wrong.element);
  std::size_t element = wrong.first;
  std::vector<std::size_t> index(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(shape[axis]);
    index[axis] = element % size;
    element /= size;
  }
  return cat(" has the element ", wrong.element, " at ", list_text(index));
}

}  // namespace

Result<void> check_input_range(const Port& input, const Tensor& given) {
  const std::string& name = input.tensor->name;
  const std::string& text = input.tensor->value_range;
  if (text.empty()) return success();
  const auto range = graph::parse_input_range(text);
  if (!range) return input_error("RT026", {}, cat("input '", name, "' has the value_range '", text, "', which is not LEAST:MOST"));
  const auto wrong = outside(given, *range);
  if (!wrong) return success();
  if (const std::string& reader = input.tensor->index_of; !reader.empty()) {
    Diagnostic d = input_error("RT026", {},
                               cat("input '", name, '\'', what_is_wrong(*wrong, given.shape()), "; '", reader, "' takes indices from ",
                                   range->least, " to ", range->most));
    d.node = name;
    return d;
  }
  Diagnostic d = input_error("RT026", {},
                             cat("input '", name, '\'', what_is_wrong(*wrong, given.shape()), "; the model was compiled for elements from ",
                                 range->least, " to ", range->most, " (--value-range)"));
  d.node = name;
  d.hint = wrong->all ? cat("if such elements are right, compile the model with ",
                            io::shell_line({"--value-range", cat(name, '=', wrong->all->text())}))
                      : cat("if such elements are right, compile the model without a --value-range of '", name, '\'');
  return d;
}

Result<void> check_input_ranges(const Ports& ports, const NamedTensors& inputs) {
  Failure failure;
  for (const Port& port : ports.inputs) {
    auto given = inputs.find(port.tensor->name);
    if (given == inputs.end()) continue;
    if (auto within = check_input_range(port, given->second); !within) failure.add(std::move(within).failure());
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::runtime
