// SPDX-License-Identifier: Apache-2.0
// The work of netlist: one function per command.
#pragma once

#include "apps/netlist/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

namespace buda::netlist_tool {

// Refused netlists are a failure with all their errors; a report of every netlist is written anyway.
Result<void> check(const Options& options, Host& host);
Result<void> print(const Options& options, Host& host);
Result<void> expand(const Options& options, Host& host);
Result<void> stats(const Options& options, Host& host);
// A difference is a failure with Fault::mismatch.
Result<void> diff(const Options& options, Host& host);
Result<void> plan(const Options& options, Host& host);
Result<void> cost(const Options& options, Host& host);

// Reads a netlist of any architecture; warnings of the reader go to the host. `as_written` keeps lists of chips.
Result<netlist::Netlist> read_netlist(const std::string& path, bool as_written, Host& host);
// Its name in diagnostics.
std::string shown_name(const std::string& path);

}  // namespace buda::netlist_tool
