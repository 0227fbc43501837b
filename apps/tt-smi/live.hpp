// SPDX-License-Identifier: Apache-2.0
// The live display.
#pragma once

#include "apps/tt-smi/options.hpp"
#include "apps/tt-smi/seen.hpp"

namespace buda::tt_smi {

// Until the user ends it. A file that cannot be read any more leaves what was seen last, and says so.
Result<void> show_live(const Options& options, const Outside& outside, Seen seen, cli::ToolHost& host);

// Where a snapshot goes, or a dump: as the options say, else with the time.
std::string snapshot_path(const Options& options, const Machine& machine);
std::string dump_folder(const Options& options, const Machine& machine);

Result<void> write_snapshot(const Seen& seen, const std::string& path, const Machine& machine, Host& host);

}  // namespace buda::tt_smi
