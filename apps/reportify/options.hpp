// SPDX-License-Identifier: Apache-2.0
// The command line of reportify.
#pragma once

#include <buda/cli/tool.hpp>
#include <buda/serve/service.hpp>

#include <cstdint>
#include <string>

namespace buda::reportify {

struct Options {
  std::string folder;
  std::string output = "report";
  std::string address = "127.0.0.1";
  std::int64_t port = 8050;
};

// `serve`: what `reportify serve` calls; the HTTP library is linked to the executable alone.
BUDA_EXPORT cli::ToolSpec tool(Options& options, serve::Serve serve);

}  // namespace buda::reportify
