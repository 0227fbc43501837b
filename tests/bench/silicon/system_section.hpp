// SPDX-License-Identifier: Apache-2.0
// The part of the page about what is more than a kernel: networks, DRAM, whole netlists, products on all cores.
#pragma once

#include "drawing.hpp"
#include "gemm.hpp"
#include "netlist_rates.hpp"
#include "noc_traces.hpp"
#include "placement.hpp"

#include <string>
#include <vector>

namespace buda::silicon {

struct SystemResults {
  std::vector<TraceTime> traces;
  TraceErrors without_links, without_contention;
  std::vector<PlacementSpeed> placement;
  std::vector<NetlistRate> netlists;
  std::vector<Gemm> gemms;
  std::string network_sensitivity, netlist_sensitivity;  // tables
};

// Markdown that shows silicon-system.svg.
std::string system_text(const SystemResults& results);
std::vector<Panel> system_panels(const SystemResults& results);

}  // namespace buda::silicon
