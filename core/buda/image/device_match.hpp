// SPDX-License-Identifier: Apache-2.0
// Whether a device is of the kind that an image was made for.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>

#include <string>

namespace buda::image {

// The device descriptor inside an image. IM005: there is none; otherwise what is wrong with it, at its place in `path`:device_desc.yaml.
Result<device::DeviceDescriptor> embedded_device(const Image& image, const std::string& path);

// A bit for each NoC row whose workers are switched off: 2050 for rows 1 and 11.
std::int64_t harvest_mask(const device::DeviceDescriptor& device);

// Addresses, places and stream programs of an image hold for one kind of device. What differs is an error with both values: IM010
// architecture, IM011 grid of workers, IM012 memory, IM013 harvested rows. On Wormhole, whose coordinates hide which rows are missing,
// their number has to be the same, and only rows that were set by hand have to be the same ones; elsewhere all have to. `asked_as`: how a
// user of the command line named the device, perhaps by a file, for the hint.
Result<void> check_same_device(const device::DeviceDescriptor& made_for, const device::DeviceDescriptor& device, const std::string& path,
                               const std::string& asked_as = "");

// Whether device.json tells of a device what its descriptor does (IM005).
Result<void> check_description(const DeviceJson& description, const device::DeviceDescriptor& device, const std::string& path);

}  // namespace buda::image
