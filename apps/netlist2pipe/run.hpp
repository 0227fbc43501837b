// SPDX-License-Identifier: Apache-2.0
// The work of netlist2pipe.
#pragma once

#include "apps/netlist2pipe/options.hpp"

namespace buda::netlist2pipe {

Result<void> run(Options& options, Host& host);

}  // namespace buda::netlist2pipe
