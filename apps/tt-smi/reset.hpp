// SPDX-License-Identifier: Apache-2.0
// Resets of simulated devices.
#pragma once

#include "apps/tt-smi/options.hpp"
#include "apps/tt-smi/seen.hpp"

namespace buda::tt_smi {

// Asks which chips, and resets them: their telemetry in the file of a run that has ended becomes that of chips on which nothing has run.
// SI003: a simulation is at work on them. SI004: no such chip.
Result<void> warm_reset(const Options& options, const Outside& outside, const Seen& seen, cli::ToolHost& host);

// Asks for the mainboard, as TT-SMI does, and resets all chips.
Result<void> mobo_reset(const Options& options, const Outside& outside, const Seen& seen, cli::ToolHost& host);

}  // namespace buda::tt_smi
