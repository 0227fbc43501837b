// SPDX-License-Identifier: Apache-2.0
// trainer: runs training steps over data.
#include "apps/trainer/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::trainer::Options options;
  return buda::cli::tool_main(argc, argv, buda::trainer::tool(options));
}
