// The balancer's command line.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace buda::balancer {

struct Options {
  std::string graph;
  std::string output;  // the netlist
  std::string plan;    // empty: beside the netlist
  std::string report;  // empty: beside the netlist
  std::string device = "n150";
  std::string policy = "minimize_grid";
  std::string scheduler = "ModuleInputsBFS";
  std::int64_t queue_entries = 2;
  bool auto_transpose = false;
  bool dram_parameters = false;
  std::map<std::string, std::string> op_overrides;  // "fc1.grid" -> "[2,2]"
};

cli::ToolSpec tool(Options& options);

}  // namespace buda::balancer
