// SPDX-License-Identifier: Apache-2.0
// plugin-check: does a plugin do what its kind promises?
#include "apps/plugin-check/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::plugin_check::Options options;
  return buda::cli::tool_main(argc, argv, buda::plugin_check::tool(options));
}
