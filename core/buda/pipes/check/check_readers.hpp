// SPDX-License-Identifier: Apache-2.0
// Checks where pipes do their work, and how the readers of DRAM are numbered. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/findings.hpp>

namespace buda::pipes {

// PC021 and PC022.
void check_readers(const CheckedEpoch& epoch, Findings& findings);

}  // namespace buda::pipes
