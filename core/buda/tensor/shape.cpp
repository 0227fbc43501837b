// SPDX-License-Identifier: Apache-2.0
// Shapes: volume, strides and NumPy's broadcasting.
#include <buda/tensor/shape.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda {

Shape::Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
Shape::Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
Shape::Shape(const Shape&) = default;
Shape::Shape(Shape&&) noexcept = default;
Shape& Shape::operator=(const Shape&) = default;
Shape& Shape::operator=(Shape&&) noexcept = default;
Shape::~Shape() = default;

void Shape::push_back(std::int64_t size) { dims_.push_back(size); }

bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }
std::strong_ordering operator<=>(const Shape& a, const Shape& b) { return a.dims_ <=> b.dims_; }

std::optional<std::size_t> Shape::axis(std::int64_t axis) const {
  auto rank = static_cast<std::int64_t>(dims_.size());
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::optional<std::int64_t> Shape::volume() const {
  if (std::any_of(begin(), end(), [](std::int64_t d) { return d < 0; })) return std::nullopt;
  if (std::find(begin(), end(), 0) != end()) return 0;
  return checked_product<std::int64_t>(dims_);
}

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> strides(dims_.size());
  // Sizes beside a 0 may be too large to multiply; nothing is ever read through such strides.
  bool empty = volume() == 0;
  std::int64_t step = 1;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    strides[i] = empty ? 0 : step;
    if (!empty) step *= dims_[i];
  }
  return strides;
}

std::string Shape::text() const { return list_text(dims_); }

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  std::size_t shift = longer.rank() - shorter.rank();
  for (std::size_t i = 0; i < shorter.rank(); ++i) {
    std::int64_t x = longer[shift + i], y = shorter[i];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[shift + i] = x == 1 ? y : x;
  }
  return out;
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> own = from.strides();
  std::vector<std::int64_t> strides(to.rank(), 0);
  std::size_t shift = to.rank() - from.rank();
  for (std::size_t i = 0; i < from.rank(); ++i)
    if (from[i] == to[shift + i]) strides[shift + i] = own[i];
  return strides;
}

}  // namespace buda
