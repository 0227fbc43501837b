// reportify: shows in a browser what a compilation did, and how a simulated run went.
#include "apps/reportify/options.hpp"
#include "apps/reportify/server.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::reportify::Options options;
  return buda::cli::tool_main(argc, argv, buda::reportify::tool(options, buda::reportify::serve_http));
}
