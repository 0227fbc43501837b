// SPDX-License-Identifier: Apache-2.0
// tti-merge: several images as one.
#include "apps/tti-merge/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::tti_merge::Options options;
  return buda::cli::tool_main(argc, argv, buda::tti_merge::tool(options));
}
