// SPDX-License-Identifier: Apache-2.0
// A run as tables of text, with their headings and the meaning of their columns.
#pragma once

#include "apps/perf-analyzer/load.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::perf_analyzer {

struct Cell {
  std::string text;  // printable ASCII
  bool bad = false;  // to be looked at
};

struct Column {
  std::string name;
  bool words = false;     // words begin at the left, numbers end at the right
  std::string_view help;  // empty: that of the columns before says it
};

// The first column has the names of the rows.
struct Table {
  std::vector<std::string> heading;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  std::size_t width(std::size_t column) const;  // of the longest text in it
};

inline constexpr std::size_t kNameLength = 50;

// Without `epoch`: a row for each epoch; with it: a row for each op of the epoch, the slowest first. Names have at most
// `name_length` characters, of their ends; 0: all of them.
Table table_of(const Run& run, std::optional<std::size_t> epoch, std::size_t name_length);

}  // namespace buda::perf_analyzer
