// SPDX-License-Identifier: Apache-2.0
// The table of epochs, then one of ops for each. What a screen marks by colour has a '!' after it.
#include "apps/perf-analyzer/print.hpp"

#include "apps/perf-analyzer/tables.hpp"

namespace buda::perf_analyzer {
namespace {

void add_cell(std::string& line, const std::string& text, const Column& column, std::size_t width) {
  if (!line.empty()) line += "  ";
  const std::string blanks(width - text.size(), ' ');
  line += column.words ? text + blanks : blanks + text;
}

void add_line(std::string& out, std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

std::string table_text(Table table) {
  for (auto& row : table.rows)
    for (Cell& cell : row)
      if (cell.bad) cell.text += '!';
  std::string out, line;
  for (const std::string& text : table.heading) add_line(out, text);
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(table.width(c));
    add_cell(line, table.columns[c].name, table.columns[c], widths[c]);
  }
  add_line(out, line);
  for (const auto& row : table.rows) {
    line.clear();
    for (std::size_t c = 0; c < row.size(); ++c) add_cell(line, row[c].text, table.columns[c], widths[c]);
    add_line(out, line);
  }
  return out;
}

}  // namespace

std::string printed(const Run& run, bool full_names) {
  const std::size_t length = full_names ? 0 : kNameLength;
  std::string out = table_text(table_of(run, std::nullopt, length));
  for (std::size_t i = 0; i < run.epochs.size(); ++i) out += '\n' + table_text(table_of(run, i, length));
  return out;
}

}  // namespace buda::perf_analyzer
