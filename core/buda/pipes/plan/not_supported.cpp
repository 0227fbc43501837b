// SPDX-License-Identifier: Apache-2.0
// Words PP001.
#include <buda/pipes/plan/not_supported.hpp>

#include <buda/base/text.hpp>

#include <utility>

namespace buda::pipes {

Diagnostic not_supported(const netlist::Netlist& netlist, const netlist::Op& op, std::string feature, int input, std::string hint) {
  netlist::SourceLocation place = input < 0 ? op.places.self : op.places.of(netlist::Field::inputs);
  std::string operand = input < 0 ? "" : cat(", input ", input);
  Diagnostic d = input_error("PP001", netlist.loc(place), cat("op '", op.name, "'", operand, ": ", feature, " is not supported yet"));
  d.node = op.name;
  d.hint = std::move(hint);
  d.data = {{"feature", std::move(feature)}};
  if (input >= 0) d.data.emplace_back("input", cat(input));
  return d;
}

}  // namespace buda::pipes
