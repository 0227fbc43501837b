// SPDX-License-Identifier: Apache-2.0
// The command line of tt-smi.
#pragma once

#include "apps/tt-smi/dump.hpp"
#include "apps/tt-smi/machine.hpp"

#include <buda/cli/tool.hpp>
#include <buda/screen/screen.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace buda::tt_smi {

struct Options {
  std::string file;    // empty: kUsualFile, if it exists
  std::string device;  // shown when nothing runs; empty: all that are known
  std::string theme = "default";
  bool no_color = false;
  double interval = 0.5;  // seconds
  bool snapshot = false;
  std::string filename;  // of the snapshot; empty: with the time
  bool dump = false;
  std::string dump_dir;  // empty: with the time
  std::optional<double> duration;
  bool warm_reset = false, mobo_reset = false;
  bool external = false;
};

// What tt-smi reaches of the world; replaced in tests.
struct Outside {
  screen::Screen screen;
  Machine machine;
  WriteWorkbook write_workbook;
};

BUDA_EXPORT cli::ToolSpec tool(Options& options, Outside outside);

}  // namespace buda::tt_smi
