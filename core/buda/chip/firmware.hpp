// SPDX-License-Identifier: Apache-2.0
// The programs of the movers, compiled from share/movers.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/kernels/text/kernel_set.hpp>

#include <array>
#include <string>

namespace buda::chip {

// What is in L1 from mover::kBrisc and mover::kNcrisc on.
using Firmware = std::array<std::string, 2>;

// KC002 and KC003, as for kernels.
Result<Firmware> build_firmware(const kernels::BuildOptions& options, Host& host);

}  // namespace buda::chip
