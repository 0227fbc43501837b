// SPDX-License-Identifier: Apache-2.0
// What products call a device.
#pragma once

#include <string>

namespace buda::device {

// For a device that load_device is given so: its name, or the name of its file without folders, which differ between machines.
std::string device_label(const std::string& name_or_path);

}  // namespace buda::device
