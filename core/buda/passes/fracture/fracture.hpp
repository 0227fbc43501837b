// SPDX-License-Identifier: Apache-2.0
// Ops that the user wants to be split into several that compute a part each (pass fracture).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace buda::passes {

// Along an axis of the result, counted from the front or (negative) from the back; or along the inner dimension of a product, whose partial
// results are added.
struct FractureAxis {
  std::int64_t axis = 0;
  bool inner = false;
  std::int64_t factor = 1;  // parts
  friend bool operator==(const FractureAxis&, const FractureAxis&) = default;
};

// The ops that are called so, that come from a node of the model called so, or, if there are none, whose whole name matches `name` as a
// regular expression.
struct FractureMember {
  std::string name;
  std::vector<FractureAxis> axes;        // one after the other
  std::vector<std::int64_t> chips = {};  // of the parts, in turn; empty: the balancer shares them out
  friend bool operator==(const FractureMember&, const FractureMember&) = default;
};

using FractureGroup = std::vector<FractureMember>;

}  // namespace buda::passes
