// SPDX-License-Identifier: Apache-2.0
// Checks the transfer between chips: which pipes may leave a chip, where relays are, and that nothing stays behind in them. Internal to the
// checker.
#pragma once

#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/findings.hpp>

namespace buda::pipes {

// PC001 and PC023 to PC026.
void check_relays(const Checked& checked, Findings& findings);

}  // namespace buda::pipes
