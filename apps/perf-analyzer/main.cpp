// SPDX-License-Identifier: Apache-2.0
// perf-analyzer: shows where the time of a run goes, by epochs and ops.
#include <buda/screen/curses/curses_screen.hpp>
#include "apps/perf-analyzer/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::perf_analyzer::Options options;
  return buda::cli::tool_main(argc, argv, buda::perf_analyzer::tool(options, buda::screen::curses_screen()));
}
