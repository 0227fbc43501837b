// SPDX-License-Identifier: Apache-2.0
// pipegen: from the pipes of an epoch to its stream programs.
#include "apps/pipegen/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::pipegen::Options options;
  return buda::cli::tool_main(argc, argv, buda::pipegen::tool(options));
}
