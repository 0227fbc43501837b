// SPDX-License-Identifier: Apache-2.0
// importer: from a model file to a graph file.
#include "apps/importer/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::importer::Options options;
  return buda::cli::tool_main(argc, argv, buda::importer::tool(options));
}
