// SPDX-License-Identifier: Apache-2.0
// reportify: shows in a browser what a compilation did, and how a simulated run went.
#include "apps/reportify/options.hpp"

#include <buda/cli/tool.hpp>
#include <buda/serve/http/http_server.hpp>

int main(int argc, char** argv) {
  buda::reportify::Options options;
  return buda::cli::tool_main(argc, argv, buda::reportify::tool(options, buda::serve::serve_http));
}
