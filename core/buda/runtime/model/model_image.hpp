// SPDX-License-Identifier: Apache-2.0
// From a compiled model to its image.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>
#include <buda/runtime/model.hpp>

#include <string>

namespace buda::runtime {

// The image of a model for a device: its netlist under `netlist_name`, its parameters as they are pushed, the host's graphs with their
// tensors, the descriptors of device and cluster, and the model's products. RT010 to RT015 where plan, netlist and parameters contradict
// each other, TP002 where a name cannot stand in an archive. load_image is the inverse.
Result<image::Image> make_image(Model model, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                                const std::string& netlist_name);

}  // namespace buda::runtime
