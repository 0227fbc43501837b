// SPDX-License-Identifier: Apache-2.0
// What the tabs and boxes show, as rows of cells.
#pragma once

#include "apps/tt-smi/machine.hpp"
#include "apps/tt-smi/seen.hpp"

#include <buda/screen/screen.hpp>

#include <string>
#include <vector>

namespace buda::tt_smi {

using Cell = screen::Line;

// A column for each chip.
struct Table {
  struct Row {
    std::string name;
    std::vector<Cell> cells;
  };
  std::vector<std::string> chips;  // "n150 chip 0"
  std::vector<Row> rows;
};

Table device_table(const Seen& seen);
Table telemetry_table(const Seen& seen, bool limits, bool averages);
Table firmware_table(const Seen& seen);

struct Fact {
  std::string name, value;
  bool bad = false;
};
std::vector<Fact> host_facts(const HostInfo& host);
// Whether what there is goes with these tools.
std::vector<Fact> compatibility(const Seen& seen, const HostInfo& host);

}  // namespace buda::tt_smi
