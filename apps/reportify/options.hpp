// The command line of reportify.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>

namespace buda::reportify {

struct Options {
  std::string folder;
  std::string output = "report";
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::reportify
