// SPDX-License-Identifier: Apache-2.0
// What predictions become when a figure that nobody has measured is a quarter smaller or larger.
#pragma once

#include "netlist_rates.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

#include <string>
#include <vector>

namespace buda::silicon {

// Markdown. Of the networks: how the traces in `folder` and the random reads change.
Result<std::string> network_sensitivity(Host& host, const std::string& folder, const device::DeviceDescriptor& device);
// Of devices, kernels and epochs: how the time of an input changes, netlist by netlist.
Result<std::string> netlist_sensitivity(Host& host, const std::vector<CheckedNetlist>& netlists);

}  // namespace buda::silicon
