// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers of two digits, as a pupil does it: low digits first, with a carry.
#include <buda/passes/integers/digits.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/passes/integers/digit_parts.hpp>
#include <buda/tensor/tensor.hpp>

#include <bit>
#include <vector>

namespace buda::passes {

using graph::ValueRef;

ValueRef DigitBuilder::number(std::int64_t value) { return b_.constant(static_cast<double>(value), DType::i32); }

ValueRef DigitBuilder::cast(ValueRef value, DType type) {
  if (!value.valid() || b_.graph().type(value)->dtype == type) return value;
  return b_.op("exact_cast", {value}, {{"dtype", std::string(dtype_name(type))}});
}

ValueRef DigitBuilder::as_number(ValueRef condition) {
  return b_.op("cast", {condition}, {{"dtype", std::string(dtype_name(DType::i32))}});
}

ValueRef DigitBuilder::host(ValueRef value) {
  if (!value.valid()) return value;
  graph::Node& n = b_.node(value);
  graph::put_on_host(n);
  n.tags[kDigits] = cat(base_);
  return value;
}

Digits DigitBuilder::of_constant(const Tensor& tensor) {
  const Tensor whole = tensor.cast(DType::i64);
  std::vector<std::int32_t> high, low;
  for (const std::int64_t v : whole.as<std::int64_t>()) {
    low.push_back(static_cast<std::int32_t>(v & (base_ - 1)));
    high.push_back(static_cast<std::int32_t>((v - (v & (base_ - 1))) / base_));
  }
  const ValueRef top = b_.named("high").constant(tensor.shape(), std::move(high));
  return {top, b_.named("low").constant(tensor.shape(), std::move(low))};
}

Digits DigitBuilder::of_number(std::int64_t value) { return of_constant(Tensor::scalar(value)); }

Digits DigitBuilder::of_operand(ValueRef value, const IntegerRange& range, const Shape& shape) {
  const ValueRef base = number(base_);
  ValueRef low = cast(value, DType::i32), high;
  // Low digits are brought into their range by one base at a time: two bases and a number of that size are no exact sum.
  for (std::int64_t most = range.most; most >= base_; most -= base_) {
    const ValueRef one = as_number(b_.op("greater_equal", {low, base}));
    high = high.valid() ? b_.add(high, one) : one;
    const ValueRef step = b_.multiply(one, base);
    low = b_.named("low").subtract(low, step);
  }
  for (std::int64_t least = range.least; least < 0; least += base_) {
    const ValueRef zero = number(0);
    const ValueRef one = as_number(b_.op("less", {low, zero}));
    high = high.valid() ? b_.subtract(high, one) : b_.negative(one);
    const ValueRef step = b_.multiply(one, base);
    low = b_.named("low").add(low, step);
  }
  if (high.valid()) return {high, low};
  auto zeros = Tensor::zeros(DType::i32, shape);
  return {zeros ? b_.named("high").constant(*zeros) : number(0), low};
}

Digits DigitBuilder::of_host_value(ValueRef value) {
  const DType type = b_.graph().type(value)->dtype;
  const ValueRef places = b_.constant(static_cast<double>(std::countr_zero(static_cast<std::uint64_t>(base_))), type);
  const ValueRef high = host(b_.named("high").op("shift_right", {value, places}));
  const ValueRef base = b_.constant(static_cast<double>(base_), type);
  const ValueRef upper = host(b_.multiply(high, base));
  const ValueRef low = host(b_.named("low").subtract(value, upper));
  const ValueRef top = type == DType::i32 ? high : host(cast(high, DType::i32));
  return {top, type == DType::i32 ? low : host(cast(low, DType::i32))};
}

ValueRef DigitBuilder::on_host(const Digits& d, DType type) {
  const ValueRef base = number(base_);
  const ValueRef upper = host(b_.multiply(d.high, base));
  const ValueRef whole = host(b_.add(upper, d.low));
  return type == DType::i32 ? whole : host(cast(whole, type));
}

ValueRef DigitBuilder::on_device(const Digits& d, const IntegerRange& range, DType type) {
  const ValueRef base = number(base_);
  ValueRef high = d.high, low = d.low;
  if (range.least < -base_) {
    // Digits of one sign, so that no part is larger than the whole.
    const ValueRef zero = number(0);
    const ValueRef below = as_number(b_.op("less", {high, zero}));
    const ValueRef step = b_.multiply(below, base);
    high = b_.add(high, below);
    low = b_.subtract(low, step);
  }
  const ValueRef upper = b_.multiply(high, base);
  return cast(b_.add(upper, low), type);
}

Digits DigitBuilder::sum(const Digits& a, const Digits& b) {
  const ValueRef low = b_.add(a.low, b.low);
  const ValueRef base = number(base_);
  const ValueRef carry = as_number(b_.op("greater_equal", {low, base}));
  const ValueRef upper = b_.multiply(carry, base);
  const ValueRef high = b_.add(a.high, b.high);
  const ValueRef top = b_.named("high").add(high, carry);
  return {top, b_.named("low").subtract(low, upper)};
}

Digits DigitBuilder::difference(const Digits& a, const Digits& b) {
  const ValueRef low = b_.subtract(a.low, b.low);
  const ValueRef zero = number(0);
  const ValueRef borrow = as_number(b_.op("less", {low, zero}));
  const ValueRef base = number(base_);
  const ValueRef upper = b_.multiply(borrow, base);
  const ValueRef high = b_.subtract(a.high, b.high);
  const ValueRef top = b_.named("high").subtract(high, borrow);
  return {top, b_.named("low").add(low, upper)};
}

Digits DigitBuilder::chosen(ValueRef condition, const Digits& a, const Digits& b) {
  const ValueRef high = b_.named("high").op("where", {condition, a.high, b.high});
  return {high, b_.named("low").op("where", {condition, a.low, b.low})};
}

Digits DigitBuilder::larger(const Digits& a, const Digits& b, bool smaller) {
  const ValueRef is_less = less(a, b);
  return smaller ? chosen(is_less, a, b) : chosen(is_less, b, a);
}

ValueRef DigitBuilder::equal(const Digits& a, const Digits& b) {
  const ValueRef high = b_.op("equal", {a.high, b.high});
  const ValueRef low = b_.op("equal", {a.low, b.low});
  return b_.op("logical_and", {high, low});
}

ValueRef DigitBuilder::less(const Digits& a, const Digits& b) {
  const ValueRef high = b_.op("less", {a.high, b.high});
  const ValueRef same = b_.op("equal", {a.high, b.high});
  const ValueRef low = b_.op("less", {a.low, b.low});
  const ValueRef below = b_.op("logical_and", {same, low});
  return b_.op("logical_or", {high, below});
}

ValueRef DigitBuilder::is_negative(const Digits& a) {
  const ValueRef zero = number(0);
  return b_.op("less", {a.high, zero});
}

std::optional<DigitParts> digit_parts(const graph::Graph& graph, const graph::Edge& value) {
  auto step = [&](const graph::Edge& edge) -> const graph::Node* {
    const graph::Node& n = graph.node(edge.source.node);
    return n.tags.contains(kDigits) ? &n : nullptr;
  };
  const graph::Node* n = step(value);
  if (n != nullptr && n->op() == "exact_cast") n = step(n->inputs()[0]);
  if (n == nullptr || n->op() != "add") return std::nullopt;
  const graph::Node* upper = step(n->inputs()[0]);
  const auto base = parse_int(n->tags.at(kDigits));
  if (upper == nullptr || upper->op() != "multiply" || !base) return std::nullopt;
  return DigitParts{upper->inputs()[0], n->inputs()[1], *base};
}

}  // namespace buda::passes
