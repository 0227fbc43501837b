// SPDX-License-Identifier: Apache-2.0
// A look at all elements.
#include <buda/runtime/inputs/special_inputs.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/data_format.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::runtime {

std::vector<Diagnostic> special_inputs(const Ports& ports, const NamedTensors& inputs) {
  std::vector<Diagnostic> out;
  for (const Port& port : ports.inputs) {
    const auto given = inputs.find(port.tensor->name);
    if (port.queue == nullptr || given == inputs.end() || !is_float(given->second.dtype())) continue;
    const std::vector<float> numbers = given->second.to_f32();
    // Of five bits of exponent the largest is that of ordinary numbers.
    const bool has_infinity = exponent_family(port.queue->format) != ExponentFamily::a;
    const auto first =
        std::find_if(numbers.begin(), numbers.end(), [&](float x) { return has_infinity ? std::isnan(x) : !std::isfinite(x); });
    if (first == numbers.end()) continue;
    std::vector<std::int64_t> index;
    std::int64_t rest = first - numbers.begin();
    const Shape& shape = given->second.shape();
    for (std::size_t axis = shape.rank(); axis-- > 0; rest /= shape[axis]) index.insert(index.begin(), rest % shape[axis]);
    Diagnostic d = warning(
        "RT028", {},
        cat("input '", port.tensor->name, "' has ", std::isnan(*first) ? "NaN" : "an infinity",
            index.empty() ? "" : cat(" at ", list_text(index)), ", which the device does not carry in ", format_name(port.queue->format),
            ": it counts as ", std::isnan(*first) && has_infinity ? "an infinity" : "the largest number"));
    d.node = port.tensor->name;
    d.hint =
        "put another number in its place; the host computes as IEEE 754 says: runner GRAPH --target cpu, of the graph that importer writes";
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace buda::runtime
