// SPDX-License-Identifier: Apache-2.0
// The rules of netlists.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

// How much is checked. TT-Buda checks some rules, above all those about addresses, only when a netlist is run; netlists that are compiled
// and never run may break them.
enum class CheckLevel {
  compile,  // breaches of run-time rules are warnings
  run,      // they are errors
};

struct CheckOptions {
  CheckLevel level = CheckLevel::compile;
};

// Everything that is wrong with the netlist on this device, in the order of places: at most kMaxFindings errors and as many warnings,
// and the reader's findings. Without errors in it, later stages need not look again. What does not fit the device has Fault::fit,
// everything else Fault::input. Linear in the size of the netlist, but for overlaps, which cost n log n.
std::vector<Diagnostic> check_netlist(const Netlist& netlist, const device::DeviceDescriptor& device, const CheckOptions& options = {});

inline constexpr std::size_t kMaxFindings = 200;

// What a rule is about. It decides whose mistake a violation is in a netlist that a compiler made of a model.
enum class RuleSubject : std::uint8_t {
  computation,  // formats, attributes and manipulations, which a compiler copies from the model: the model's mistake
  mapping,      // how the netlist is written, blocked, placed, allocated and run, which a compiler chooses: its own mistake
};

// docs/formats/netlist-rules.md lists them.
struct Rule {
  std::string_view code;
  RuleSubject subject;
  std::string_view text;
};
const std::vector<Rule>& netlist_rules();
const Rule* find_rule(std::string_view code);  // null if there is no such rule

}  // namespace buda::netlist
