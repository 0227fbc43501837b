// SPDX-License-Identifier: Apache-2.0
// What would mend outputs that are not as expected: where ops lose accuracy, and which options of the compiler, tried, help.
#pragma once

#include "apps/runner/options.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <functional>
#include <string>
#include <vector>

namespace buda::runner {

// The same run once more, with the netlist changed or without formats.
struct Rerun {
  std::function<void(netlist::Netlist&)> change = {};
  bool fp32 = false;
  bool with_ops = false;
};
struct RerunResults {
  NamedTensors outputs;
  NamedTensors ops;  // what ops made, with_ops
};

// Options of the compiler by which formats, fidelity or accumulation are raised, and what they do to a netlist.
struct Remedy {
  std::string options;  // "with --default-df Float32"
  std::function<void(netlist::Netlist&)> change;
};
// Those that change something, from the cheapest to the dearest.
std::vector<Remedy> remedies(const netlist::Netlist& netlist, const device::DeviceDescriptor& device);

// Runs anew, and tells in notes what was found (RN009: ops that lose most, or that formats are not the reason; RN010: what mends it). A run
// that fails tells nothing.
void tell_remedies(const Options& options, const NamedTensors& expected, const netlist::Netlist& netlist,
                   const device::DeviceDescriptor& device, const std::function<Result<RerunResults>(const Rerun&)>& rerun, Host& host);

}  // namespace buda::runner
