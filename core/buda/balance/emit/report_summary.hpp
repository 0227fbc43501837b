// The few facts of a placement that people ask for first.
#pragma once

#include <buda/balance/emit/report.hpp>

#include <string>
#include <vector>

namespace buda::balance {

// Lines: ops, epochs and cores; the estimated rate and what limits it; bytes of parameters and of DRAM. The tools print them after `buda
// compile` and at the end of the balancer's table.
std::vector<std::string> report_summary(const PlacementReport& report);

}  // namespace buda::balance
