// SPDX-License-Identifier: Apache-2.0
// tti-pack: makes images, shows them, takes them apart.
#include "apps/tti-pack/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::tti_pack::Options options;
  return buda::cli::tool_main(argc, argv, buda::tti_pack::tool(options));
}
