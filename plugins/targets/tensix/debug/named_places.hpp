// SPDX-License-Identifier: Apache-2.0
// Whether there are the lines and cores that a user names. A run that never comes to them would only seem to have found nothing.
#pragma once

#include "settings.hpp"

#include <buda/kernels/text/kernel_set.hpp>
#include <buda/netlist/model/netlist.hpp>

namespace buda::tensix {

// What is not there is TX003.
Result<void> check_named_places(const DebugSettings& settings, const netlist::Netlist& netlist, const kernels::KernelSet& kernels);

}  // namespace buda::tensix
