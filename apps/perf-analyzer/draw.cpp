// SPDX-License-Identifier: Apache-2.0
// From top to bottom: title, heading, names of columns, rows, keys.
#include "apps/perf-analyzer/draw.hpp"

#include "apps/perf-analyzer/layout.hpp"

#include <buda/base/text.hpp>
#include <buda/screen/lines.hpp>

#include <algorithm>

namespace buda::perf_analyzer {

using screen::add_part;
using screen::bar;
using screen::Style;

namespace {

void add_padded(Line& line, const Cell& cell, const Column& column, std::size_t width, Style style) {
  const std::string blanks(width - cell.text.size(), ' ');
  if (!column.words && !blanks.empty()) line.push_back({blanks, Style::plain});
  if (!cell.text.empty()) line.push_back({cell.text, cell.bad ? Style::bad : style});
  if (column.words && !blanks.empty()) line.push_back({blanks, Style::plain});
}

// How many characters of the columns from `from` on are visible: a column that does not fit is not shown, unless it is the first one or
// fits nowhere.
std::size_t visible(const Layout& layout, std::size_t first, std::size_t from, std::size_t window) {
  std::size_t begin = 0;
  for (std::size_t c = first; c < layout.widths.size(); ++c) {
    const std::size_t end = begin + layout.widths[c];
    if (end > from + window) return begin > from && layout.widths[c] <= window ? std::min(begin - from, window) : window;
    begin = end + 2;
  }
  return window;
}

Line row_line(const Layout& layout, const std::vector<Cell>& cells, std::size_t from, std::size_t width, Style style) {
  const std::size_t first = layout.fixed > 0 ? 1 : 0;
  Line name, rest, out;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    Line& to = c < first ? name : rest;
    if (c > first) to.push_back({"  ", Style::plain});
    add_padded(to, cells[c], layout.table.columns[c], layout.widths[c], style);
  }
  if (first > 0) {
    name.push_back({"  ", Style::plain});
    add_part(out, name, 0, layout.fixed);
  }
  const std::size_t window = width - layout.fixed;
  add_part(out, rest, from, visible(layout, first, from, window));
  return out;
}

std::string keys_text(const View& view, std::size_t width) {
  if (view.entry) return cat("epoch: ", *view.entry, "_");
  if (view.help) return "any key ends the help";
  const std::string all = "N next  P previous  E epoch  F full names  arrows scroll  H help  Q quit";
  return all.size() <= width ? all : "N P E F arrows  H help  Q quit";
}

std::vector<Line> help_screen(const Run& run, const View& view, Size size) {
  const auto lines = help_lines(layout_of(run, view, size).table, view.epoch.has_value(), size.columns);
  const std::size_t rows = help_rows(size), first = std::min(view.row, lines.size() - std::min(lines.size(), rows));
  std::vector<Line> out = {bar(view.epoch ? "perf-analyzer: help on epochs" : "perf-analyzer: help on the summary", size.columns)};
  for (std::size_t i = first; i < std::min(first + rows, lines.size()); ++i) out.push_back({{lines[i], Style::plain}});
  return out;
}

std::vector<Line> table_screen(const Run& run, const View& view, Size size) {
  const Layout layout = layout_of(run, view, size);
  std::vector<Line> out = {bar(view.epoch ? "perf-analyzer: epoch analysis" : "perf-analyzer: summary", size.columns)};
  for (const std::string& line : layout.heading) out.push_back({{line, Style::plain}});
  const std::size_t from = layout.stops[std::min(view.column, layout.stops.size() - 1)];
  std::vector<Cell> names;
  for (const Column& column : layout.table.columns) names.push_back({column.name});
  out.push_back(row_line(layout, names, from, size.columns, Style::heading));
  const std::size_t first = std::min(view.row, layout.last_row);
  for (std::size_t i = first; i < std::min(first + layout.rows, layout.table.rows.size()); ++i)
    out.push_back(row_line(layout, layout.table.rows[i], from, size.columns, Style::plain));
  return out;
}

}  // namespace

std::vector<Line> draw(const Run& run, const View& view, Size size) {
  std::vector<Line> out = view.help ? help_screen(run, view, size) : table_screen(run, view, size);
  out.resize(size.rows);
  if (size.rows > 1) out.back() = bar(keys_text(view, size.columns), size.columns);
  return out;
}

}  // namespace buda::perf_analyzer
