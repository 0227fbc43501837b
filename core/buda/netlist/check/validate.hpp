// SPDX-License-Identifier: Apache-2.0
// What a netlist is worth on each architecture that it is for.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/check/check.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

// Devices to validate netlists on: the one that a user names, or the full grid of each architecture.
class ValidationDevices {
 public:
  // `device` is a name or a path for load_device; empty for "whatever a netlist is for". Then there are as many chips as the netlist uses,
  // and otherwise `chips`, when it is not 0.
  static Result<ValidationDevices> make(Host& host, const std::string& device, std::int32_t chips = 0);

  // The devices for a netlist of these architectures.
  std::vector<device::DeviceDescriptor> devices_for(const Netlist& netlist) const;
  // The architecture that a netlist has to name; empty when any will do.
  const std::string& arch() const { return arch_; }

 private:
  std::vector<device::DeviceDescriptor> devices_;  // one, or one for each architecture
  std::string arch_;
  std::int32_t chips_ = 0;
};

// The chips that queues, graphs and ethernet copies of a netlist name: the largest number, plus one.
std::int32_t chips_used(const Netlist& netlist);

// One architecture's verdict.
struct Verdict {
  std::string arch;  // empty when the text is no netlist on any
  std::size_t errors = 0, warnings = 0;
  std::vector<std::string> codes;  // of the errors, sorted, each once
  bool accepted() const { return errors == 0; }
};

struct Validation {
  std::vector<Verdict> verdicts;     // by architecture, in the order of the file
  std::vector<Diagnostic> findings;  // of all of them, in the order of places; one that not all of them have, says who has it in a note
};

// Reads and checks a netlist on every device it is for. No input makes it fail: what is no netlist is refused like what breaks a rule.
// Thread-safe for one ValidationDevices.
Validation validate_netlist(std::string_view text, const std::string& file, const ValidationDevices& devices,
                            const CheckOptions& options = {});

}  // namespace buda::netlist
