// SPDX-License-Identifier: Apache-2.0
// Chains of reshapes and transposes as one map of elements, and how a chip does such a map by manipulations on an edge.
#pragma once

#include <buda/graph/tm.hpp>
#include <buda/tensor/shape.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace buda::passes {

// What a chain of reshapes and transposes does to a value: cut its elements, in row-major order, into axes that stay together ("factors"),
// put these into another order, and call that a value of another shape.
//
//   x [1, 197, 768] -> reshape [1, 197, 12, 64] -> transpose [0, 2, 1, 3]     factors 197, 12, 64; order 12, 197, 64; shape [1, 12, 197,
//   64]
class Rearrangement {
 public:
  explicit Rearrangement(const Shape& shape);

  const Shape& from() const { return from_; }
  const Shape& to() const { return to_; }

  void reshape(const Shape& to) { to_ = to; }
  // False, and nothing is done, when an axis of the shape so far is no row of whole factors: two reshapes have cut the elements in ways
  // that do not go together.
  bool transpose(const std::vector<std::size_t>& permutation);
  // Another rearrangement on top of this one; false as above.
  bool append(const Rearrangement& next);
  Rearrangement inverse() const;

  bool moves_nothing() const;
  // As the host does it: reshape to `split`, transpose by `order`, reshape to `to()`.
  std::vector<std::int64_t> split() const;
  std::vector<std::int64_t> order() const;
  // For each element of the result, in row-major order, its place in the value before.
  std::vector<std::int64_t> sources() const;

  // The factors along the axes (w, z, r, c) of the value before and after. Sizes of 1 have none.
  struct Places {
    std::vector<std::int64_t> sizes;  // of each factor
    std::array<std::vector<int>, 4> from, to;
  };
  // For a value whose shape before stands for these four axes; nothing when its axes, or those of the result, are no rows of whole factors.
  std::optional<Places> places(const Shape& from4, const Shape& to4) const;

  friend bool operator==(const Rearrangement&, const Rearrangement&) = default;

 private:
  using Groups = std::vector<std::vector<int>>;
  // The factors of `list` along each of the axes of `shape`, split where an axis ends inside one.
  std::optional<Groups> cut(std::vector<int> Rearrangement::*list, const Shape& shape);

  Shape from_, to_;
  std::vector<std::int64_t> sizes_;  // by factor
  std::vector<int> before_, after_;  // factors in row-major order
};

// The axes z, r and c of a device value, each a list of factors, outermost first; the batch w stays in its place.
struct DeviceAxes {
  std::array<std::vector<int>, 3> lists;
  friend auto operator<=>(const DeviceAxes&, const DeviceAxes&) = default;
  const std::vector<int>& z() const { return lists[0]; }
  const std::vector<int>& r() const { return lists[1]; }
  const std::vector<int>& c() const { return lists[2]; }
};

std::int64_t size_of(const std::vector<int>& factors, const std::vector<std::int64_t>& sizes);

// The shortest list of manipulations of an edge (slices, stacks, transposes; at most four) that leads from one to the other; nothing when
// there is none. What is sliced or stacked are whole tiles.
std::optional<std::vector<graph::Tm>> manipulations(const DeviceAxes& from, const DeviceAxes& to, const std::vector<std::int64_t>& sizes);

}  // namespace buda::passes
