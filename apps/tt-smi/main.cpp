// SPDX-License-Identifier: Apache-2.0
// tt-smi: shows what simulated devices do.
#include "apps/tt-smi/machine.hpp"
#include "apps/tt-smi/options.hpp"
#include "apps/tt-smi/workbook.hpp"

#include <buda/cli/tool.hpp>
#include <buda/screen/curses/curses_screen.hpp>

int main(int argc, char** argv) {
  using namespace buda::tt_smi;
  Options options;
  return buda::cli::tool_main(argc, argv, tool(options, {buda::screen::curses_screen(), this_machine(), write_workbook}));
}
