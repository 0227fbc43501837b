// SPDX-License-Identifier: Apache-2.0
// Types and fidelities as text.
#include <buda/graph/value_type.hpp>

#include <buda/base/text.hpp>

#include <array>

namespace buda::graph {
namespace {

constexpr std::array<std::string_view, 4> kFidelityNames = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};

}  // namespace

std::string ValueType::text() const {
  std::string out = cat(dtype_name(dtype), ' ', shape.text());
  if (format) out += cat(' ', format_name(*format));
  return out;
}

std::string_view fidelity_name(MathFidelity f) { return kFidelityNames[static_cast<std::size_t>(f)]; }

std::optional<MathFidelity> fidelity_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kFidelityNames.size(); ++i)
    if (kFidelityNames[i] == name) return static_cast<MathFidelity>(i);
  return std::nullopt;
}

}  // namespace buda::graph
