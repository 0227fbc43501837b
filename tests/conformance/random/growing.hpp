// SPDX-License-Identifier: Apache-2.0
// A recipe that is being grown, and the random choices that all suites make.
#pragma once

#include <buda/base/rng.hpp>

#include "recipe.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::trial {

// Values are computed as steps are added, so that whoever adds a step knows the numbers that it will meet.
class Growing {
 public:
  explicit Growing(std::uint64_t seed) : rng_(seed * 0x9e3779b97f4a7c15ULL + 7) {}

  Rng& rng() { return rng_; }
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  std::int64_t between(std::int64_t least, std::int64_t most);
  bool chance(int percent) { return pick(100) < static_cast<std::size_t>(percent); }
  template <class T, std::size_t n>
  const T& one_of(const T (&choices)[n]) {
    return choices[pick(n)];
  }
  // Sizes of axes are mostly odd or prime; of the last two larger ones, too.
  Shape any_shape();
  // One that broadcasts with `other`: the same, or with axes of size 1 or without leading ones.
  Shape meeting_shape(const Shape& other);
  std::int64_t any_axis(const Tensor& x);  // counted from either end; the rank is not 0

  Port input(Tensor value, std::optional<Promise> promise = {});
  Port constant(Tensor value);
  // Nothing where the op refuses these inputs, or the result has too many elements.
  std::optional<Port> op(std::string name, std::vector<Port> inputs, graph::AttrMap attrs = {});

  const Tensor& value(Port port) const { return recipe_.value(port); }
  const Shape& shape(Port port) const { return value(port).shape(); }
  DType dtype(Port port) const { return value(port).dtype(); }
  std::size_t ops() const { return recipe_.ops(); }

  // Some result of which the condition holds, newer ones more often.
  std::optional<Port> some(const std::function<bool(const Tensor&)>& condition);

  // With all results that nobody reads as outputs, and now and then one that is read as well.
  Recipe finish();

 private:
  Rng rng_;
  Recipe recipe_;
};

}  // namespace buda::trial
