// SPDX-License-Identifier: Apache-2.0
// Checks what is written into queues and rams. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/findings.hpp>

namespace buda::pipes {

// Every buffer of a queue (in Netlist::queues) that an op of the epoch writes, tile by tile; an untilized output, core by core.
void check_queue(const Checked& checked, std::size_t queue, Findings& findings);

// The ram of a gradient op is where its buffers are: PC003.
void check_gradient(const Checked& checked, const netlist::Op& op, Findings& findings);

}  // namespace buda::pipes
