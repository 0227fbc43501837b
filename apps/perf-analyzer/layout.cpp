// SPDX-License-Identifier: Apache-2.0
// Sizes of the parts of a screen.
#include "apps/perf-analyzer/layout.hpp"

#include <buda/screen/text.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::perf_analyzer {

using screen::wrapped;
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kMinRows = 3;  // of the table, before its heading gets more lines
constexpr std::size_t kMinName = 12;

// Each column begins at a stop, and one that is wider than the window has further ones; none lies behind the first from which the rest
// fits.
std::vector<std::size_t> stops_of(const std::vector<std::size_t>& widths, std::size_t first, std::size_t window) {
  std::size_t all = 0;
  for (std::size_t c = first; c < widths.size(); ++c) all += widths[c] + kGap;
  all -= std::min(all, kGap);
  std::vector<std::size_t> out;
  const std::size_t step = std::max<std::size_t>(window / 2, 1);
  std::size_t begin = 0;
  for (std::size_t c = first; c < widths.size(); ++c) {
    std::size_t at = begin;
    do {
      out.push_back(at);
      if (at + window >= all) return out;
      at += step;
    } while (at + step < begin + widths[c]);
    begin += widths[c] + kGap;
  }
  return out;
}

}  // namespace

Layout layout_of(const Run& run, const View& view, Size size) {
  const std::size_t name_length = view.full_names ? 0 : std::min(kNameLength, std::max(2 * size.columns / 5, kMinName));
  Layout out{table_of(run, view.epoch, name_length), {}, {}, 0, 0, {}, 0};
  for (std::size_t c = 0; c < out.table.columns.size(); ++c) out.widths.push_back(out.table.width(c));
  // A title, the names of the columns and the keys take a line each.
  const std::size_t lines = size.rows - std::min<std::size_t>(size.rows, 3);
  for (const std::string& text : out.table.heading)
    for (std::string& line : wrapped(text, size.columns))
      if (out.heading.size() + kMinRows < lines) out.heading.push_back(std::move(line));
  out.rows = lines - out.heading.size();
  out.fixed = view.full_names ? 0 : std::min(out.widths[0] + kGap, size.columns);
  out.stops = stops_of(out.widths, view.full_names ? 0 : 1, std::max<std::size_t>(size.columns - out.fixed, 1));
  out.last_row = out.table.rows.size() - std::min(out.table.rows.size(), std::max<std::size_t>(out.rows, 1));
  return out;
}

std::vector<std::string> help_lines(const Table& table, bool of_ops, std::size_t width) {
  std::vector<std::string> out;
  auto add = [&](std::string_view text) {
    for (std::string& line : wrapped(text, width)) out.push_back(std::move(line));
  };
  add(of_ops ? "Cycles and bytes of the ops of an epoch, of one core and for one input." : "The epochs of the run, in their order.");
  for (const Column& column : table.columns)
    if (!column.help.empty()) add(cat(column.name, ": ", column.help));
  add("");
  add("N: next epoch. P: previous epoch, or the table of epochs. E: epoch by its number. F: full names. Arrows, page keys, Home and End: "
      "scroll. H: this help. Q: end.");
  add("");
  add("The speed by the slowest ops is what the run would reach if all pipelines were full all the time and no op waited for another one; "
      "that the run is much slower than that is a sign of forks whose branches wait for each other, or of few inputs in an execution. A "
      "pipeline "
      "is taken as full from the second half of the inputs on where an execution has 16 or more, else from the second input on.");
  return out;
}

std::size_t help_rows(Size size) { return size.rows - std::min<std::size_t>(size.rows, 2); }

}  // namespace buda::perf_analyzer
