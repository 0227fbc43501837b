// SPDX-License-Identifier: Apache-2.0
// optimizer: from a framework's graph to device ops.
#include "apps/optimizer/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::optimizer::Options options;
  return buda::cli::tool_main(argc, argv, buda::optimizer::tool(options));
}
