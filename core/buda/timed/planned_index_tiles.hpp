// SPDX-License-Identifier: Apache-2.0
// The index tiles of a netlist that a host plan gives values for: what the runner would push.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/timed/index_tiles.hpp>

#include <string>

namespace buda::timed {

// By the plan that lies next to the netlist's file; of no queue where there is none. The netlist must outlive the result.
Result<IndexTiles> planned_index_tiles(const netlist::Netlist& netlist, const std::string& netlist_path, Host& host);

}  // namespace buda::timed
