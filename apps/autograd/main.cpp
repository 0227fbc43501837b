// SPDX-License-Identifier: Apache-2.0
// autograd: from a model's graph to the graph of a training step.
#include "apps/autograd/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::autograd_tool::Options options;
  return buda::cli::tool_main(argc, argv, buda::autograd_tool::tool(options));
}
