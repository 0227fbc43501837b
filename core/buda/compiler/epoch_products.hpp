// The products of pipes and overlay that an image carries.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/archive.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <functional>
#include <string>

namespace buda::compiler {

// For every temporal epoch its pipes and its stream programs, and what is common to all of them, by their names below the compiler's output
// folder. The netlist is checked first. `cluster` is a name or a file, empty for that of the device; `device_label` is what the pipes say
// of the device. `proceed` is called before each part; a failure ends the work.
Result<image::Members> epoch_products(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, const std::string& cluster,
                                      const std::string& device_label, Host& host, const std::function<Result<void>()>& proceed);

}  // namespace buda::compiler
