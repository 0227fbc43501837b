// SPDX-License-Identifier: Apache-2.0
// The page of a profile: a script draws data into it. One file that holds everything, or files that a server gives.
#pragma once

#include "apps/profiler/device_stats.hpp"
#include "apps/profiler/ops_report.hpp"

#include <buda/io/host.hpp>
#include <buda/io/node.hpp>

#include <map>
#include <string>

namespace buda::profiler {

// A row for each core, a bar for each RISC's kernel in each run and below it those of its zones, behind them that of the firmware; tables
// of figures.
io::Node device_page(const DeviceLog& log, const ZoneNames& zones, const std::vector<Analysis>& all);
// A row for each op code, a bar for each call.
io::Node ops_page(const OpsReport& report);

// The page's own files, by name. PF004: they are missing.
using PageCode = std::map<std::string, std::string>;
Result<PageCode> read_page_code(Host& host);

// device_perf.html.
std::string whole_page(const PageCode& code, const io::Node& data);
// data.js of a served page, which offers `download`, a path.
std::string served_data(io::Node data, const std::string& download);

}  // namespace buda::profiler
