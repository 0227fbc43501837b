// SPDX-License-Identifier: Apache-2.0
// runner: executes images, netlists and graphs.
#include "apps/runner/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::runner::Options options;
  return buda::cli::tool_main(argc, argv, buda::runner::tool(options));
}
