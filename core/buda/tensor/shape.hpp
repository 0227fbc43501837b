// SPDX-License-Identifier: Apache-2.0
// The sizes of a tensor along its axes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// Rank 0 is a scalar. A shape that came from a file may hold anything until `volume()` was asked: it is nothing when a size is negative
// or the product does not fit. Tensors have valid shapes only.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::vector<std::int64_t> dims);
  // Out of line, as a tensor's.
  Shape(const Shape&);
  Shape(Shape&&) noexcept;
  Shape& operator=(const Shape&);
  Shape& operator=(Shape&&) noexcept;
  ~Shape();

  std::size_t rank() const { return dims_.size(); }
  std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  std::int64_t& operator[](std::size_t axis) { return dims_[axis]; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void push_back(std::int64_t size);

  // The axis that `axis` means, counted from the end where it is negative; nothing when it is outside [-rank, rank).
  std::optional<std::size_t> axis(std::int64_t axis) const;

  // The number of elements; 1 for a scalar. A shape with a 0 has volume 0, however large its other sizes.
  std::optional<std::int64_t> volume() const;

  // How many elements apart neighbours along each axis are, in row-major order. Needs a volume.
  std::vector<std::int64_t> strides() const;

  // "[2, 3]"; "[]" for a scalar.
  std::string text() const;

  friend bool operator==(const Shape& a, const Shape& b);
  friend std::strong_ordering operator<=>(const Shape& a, const Shape& b);

 private:
  std::vector<std::int64_t> dims_;
};

// The shape that NumPy's rules give for an elementwise operation: aligned at the right, a size of 1 stretches. Nothing when they do not
// go together.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// Strides for reading a tensor of shape `from` as if it had shape `to`, one per axis of `to`, 0 where it is stretched. `from` must
// broadcast to `to`.
std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);

}  // namespace buda

#pragma GCC visibility pop
