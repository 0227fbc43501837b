// SPDX-License-Identifier: Apache-2.0
// Tables as the firmware reads them: what is written to a core's L1 before it begins.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/movers/tables.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace buda::movers {

// Where the compute threads begin, of a core with a kernel.
using Entries = std::optional<std::array<std::uint32_t, 3>>;

// From mover::kTables on. MV003 where it does not fit.
Result<std::string> encode(const CoreTables& core, device::NocSize noc, const Entries& entries);

}  // namespace buda::movers
