// SPDX-License-Identifier: Apache-2.0
// What is found out about one seed, and about many.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::trial {

// Counts by name: "place|n150|equal|b11|chip", "pair|n150|bits|exp: +inf -> finite".
using Counts = std::map<std::string, std::int64_t>;

struct Finding {
  std::string kind;  // "equal|I32|b16|n150|exact|differs": op, element type, range, device, mode, what happened
  std::string text;  // for people: the reduced graph and the first difference
};

struct Verdict {
  std::uint64_t seed = 0;
  std::vector<Finding> findings;
  Counts counts;
};

// One line each, so that a process can tell another: "fault KIND<tab>TEXT", "count NAME<tab>NUMBER".
std::string lines_of(const Verdict& verdict);
void read_line(const std::string& line, Verdict& verdict);

// "n150 exact", and a kind without it.
std::string run_of(const std::string& kind);
std::string without_run(const std::string& kind);

// Columns with equal widths.
std::string table_text(const std::vector<std::vector<std::string>>& rows);
// Failures by kind, most first: op, element type, range, what, how many in each run (device and mode), and the first seed.
std::string finding_table(const std::vector<Verdict>& verdicts);
// By device, op and range (b11: magnitudes up to 2^11): ops on the chip, and of which a part is left to the host.
std::string placement_table(const Counts& counts);
// By device, mode and op: how many elements have which class instead of IEEE's.
std::string class_table(const Counts& counts);

}  // namespace buda::trial
