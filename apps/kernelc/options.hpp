// SPDX-License-Identifier: Apache-2.0
// The command line of kernelc.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::kernelc {

struct Options {
  std::string input;  // the netlist, or the program that is printed
  bool disassemble = false;
  bool dprint = false, zones = false;
  std::string output;
  std::string cxx = "any";
  std::string compiler;  // path; empty: where Debian has it
  std::string cache;
  std::int64_t compile_timeout = 300;    // seconds
  std::vector<std::string> kernel_path;  // folders of packages
  std::vector<std::string> products;     // that were written
};

// Where kernels go.
inline std::string folder_of(const Options& options) { return options.output.empty() ? "kernels" : options.output; }

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::kernelc
