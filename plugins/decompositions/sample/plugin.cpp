// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `sample`: sampling of maps at places that the model computes, as products with weights along each axis.
//
// What lies at (y, x) is the sum over rows h and columns w of the map at (h, w) times a weight for h and y and a weight for w and x: both
// kinds are functions of distances, which the device computes for all rows and places, or columns and places, at once.
#include "rules.hpp"

#include <buda/plugin/plugin.hpp>

namespace buda::sample {

using namespace plugin;

Term ramp(Rewrite& r, std::size_t axis, std::int64_t n, double start) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<float>(start + static_cast<double>(i)));
  Dims dims(4, 1);
  dims[axis] = n;
  return r.constant(Shape(dims), std::move(numbers));
}

Term hat(const Term& distance) { return relu(1 - abs(distance)); }

Term at(Rewrite& r, const Term& x, std::int64_t axis, std::int64_t place) {
  return r.op("slice", {x}, {{"dims", Dims{axis}}, {"starts", Dims{place}}, {"stops", Dims{place + 1}}});
}

const std::vector<std::string>& sample_ops() {
  static const std::vector<std::string> ops = {"add",   "subtract", "multiply",  "abs",    "relu",   "clip",   "round",
                                               "slice", "reshape",  "transpose", "matmul", "gather", "square", "reduce_sum"};
  return ops;
}

}  // namespace buda::sample

BUDA_PLUGIN(.name = "sample", .version = "1.0", .description = "sampling at computed places as products with weights",
            .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::rule(buda::sample::grid_sample_rule()));
  registrar.add_decomposition(buda::plugin::rule(buda::sample::roi_align_rule()));
}
