// SPDX-License-Identifier: Apache-2.0
// The rows of a device file.
#pragma once

#include <buda/device/descriptor.hpp>

#include <string>

namespace buda::silicon {

// `file`, the text of a device file, with `fitted` in place of the measured rows from the line on that says who writes them; rows of
// `present` without measurements stay, before the others. The text of a file without that line comes back as it is.
std::string with_rows(const std::string& file, const device::CostParameters& present, const device::CostParameters& fitted);

}  // namespace buda::silicon
