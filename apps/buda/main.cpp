// SPDX-License-Identifier: Apache-2.0
// buda: the driver, as gcc is of cc1, as and ld.
#include "apps/buda/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::driver::AllOptions options;
  return buda::cli::tool_main(argc, argv, buda::driver::tool(options));
}
