// SPDX-License-Identifier: Apache-2.0
// Where the parts of a table go on a screen of some size.
#pragma once

#include "apps/perf-analyzer/view.hpp"

#include <cstddef>
#include <vector>

namespace buda::perf_analyzer {

// The columns scroll below the name column, which stays; with full names it scrolls, too. Columns are two blanks apart.
struct Layout {
  Table table;
  std::vector<std::size_t> widths;
  std::vector<std::string> heading;  // as many lines of it as there is room for
  std::size_t fixed = 0;             // characters at the left that stay, with the blanks after them
  std::size_t rows = 0;              // that are visible
  std::vector<std::size_t> stops;    // where steps to the right lead, in characters of what scrolls
  std::size_t last_row = 0;          // the last that may be the first visible one
};

Layout layout_of(const Run& run, const View& view, Size size);

// The lines of the explanation of a table's columns.
std::vector<std::string> help_lines(const Table& table, bool of_ops, std::size_t width);
// The first and the last line of a screen are no part of what scrolls.
std::size_t help_rows(Size size);

}  // namespace buda::perf_analyzer
