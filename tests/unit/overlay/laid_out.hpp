// SPDX-License-Identifier: Apache-2.0
// What the cores of a netlist use, as the files of its tools say it.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/overlay/usage.hpp>

#include <string>
#include <vector>

namespace buda::overlay {

// Of all epochs: pipes are written and read again, as `netlist2pipe` and `pipegen` hand them over, stream programs too, and what is read
// is added up.
Result<std::vector<EpochUsage>> laid_out_usage(const EpochCompiler& compiler);

// What differs between the prediction and the files: nothing, or a text that names the first difference. Where one of them is refused, the
// other one has to be refused for the same reasons. `cores` counts those that were compared.
std::string difference_of_usage(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host, std::size_t& cores);

}  // namespace buda::overlay
