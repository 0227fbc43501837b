// The command line of kernelc.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>

namespace buda::kernelc {

struct Options {
  std::string netlist;
  std::string output;
  std::string cxx = "any";
  std::string compiler;  // path; empty: where Debian has it
  std::string cache;
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::kernelc
