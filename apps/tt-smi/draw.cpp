// SPDX-License-Identifier: Apache-2.0
// From top to bottom: header; the sidebar and beside it the tab; footer.
#include "apps/tt-smi/draw.hpp"

#include "apps/tt-smi/tables.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/tool.hpp>
#include <buda/screen/lines.hpp>
#include <buda/screen/text.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace buda::tt_smi {

using screen::Line;
using screen::Size;
using screen::Style;

namespace {

constexpr std::size_t kSidebarColumns = 27;
constexpr std::size_t kLeast = 10;  // columns of a chip

std::size_t width_of(const Line& line) {
  std::size_t out = 0;
  for (const auto& span : line) out += span.text.size();
  return out;
}

Line cut(const Line& line, std::size_t width) {
  Line out;
  screen::add_part(out, line, 0, width);
  return out;
}

Line padded(const Line& line, std::size_t width) {
  Line out = cut(line, width);
  if (const std::size_t used = width_of(out); used < width) out.push_back({std::string(width - used, ' '), Style::plain});
  return out;
}

Line header(const Picture& picture, std::size_t width) {
  std::string left = cat("tt-smi ", cli::version_text()), title = "simulated devices";
  const std::size_t needed = left.size() + title.size() + picture.time.size() + 4;
  if (needed > width) title.clear();
  std::string out = cat(left, "  ", title);
  if (out.size() + picture.time.size() + 1 <= width) out.append(width - out.size() - picture.time.size(), ' ').append(picture.time);
  return screen::bar(out, width);
}

std::string keys_text(const View& view, std::size_t width) {
  if (view.help) return "any key ends the help";
  const std::string all = "1 devices  2 telemetry  3 firmware  T side  W limits  V avg  S D  H help  Q quit";
  return all.size() <= width ? all : "1 2 3 T W V S D arrows  H help  Q quit";
}

std::vector<Line> facts_box(const std::string& title, const std::vector<Fact>& facts) {
  std::vector<Line> out = {{{title, Style::heading}}};
  for (const Fact& fact : facts) {
    std::string name = fact.name;
    name.resize(std::max<std::size_t>(name.size(), 10), ' ');
    out.push_back({{cat(name, ' '), Style::plain}, {fact.value, fact.bad ? Style::bad : Style::plain}});
  }
  return out;
}

std::vector<Line> sidebar(const Picture& picture) {
  std::vector<Line> out = facts_box("Host Info", host_facts(picture.host));
  out.push_back({});
  for (Line& line : facts_box("Compatibility Check", compatibility(picture.seen, picture.host))) out.push_back(std::move(line));
  return out;
}

Table table_of(const Picture& picture, const View& view) {
  switch (view.tab) {
    case Tab::device:
      return device_table(picture.seen);
    case Tab::telemetry:
      return telemetry_table(picture.seen, view.limits, view.averages);
    case Tab::firmware:
      return firmware_table(picture.seen);
  }
  return {};
}

std::string title_of(Tab tab) {
  return tab == Tab::device ? "Device Info" : tab == Tab::telemetry ? "Device Telemetry" : "Device Firmware Versions";
}

// The names of rows stay; chips before view.chip are not shown.
std::vector<Line> tab_lines(const Picture& picture, View& view, Size size) {
  const Table table = table_of(picture, view);
  std::vector<Line> out;
  // On a small screen the table needs the room.
  for (const std::string& text : screen::wrapped(picture.seen.note, size.columns))
    if (out.size() < std::max<std::size_t>(size.rows / 4, 1)) out.push_back({{text, Style::plain}});
  view.chip = std::min(view.chip, table.chips.empty() ? 0 : table.chips.size() - 1);
  const std::string title = title_of(view.tab);
  std::size_t names = title.size();
  for (const auto& row : table.rows) names = std::max(names, row.name.size());
  names = std::min(names, size.columns / 2);
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.chips.size(); ++c) {
    widths.push_back(std::max(kLeast, table.chips[c].size()));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], width_of(row.cells[c]));
  }
  auto line_of = [&](const Line& name, const std::function<Line(std::size_t)>& cell) {
    Line line = padded(name, names);
    std::size_t used = names;
    for (std::size_t c = view.chip; c < table.chips.size() && (c == view.chip || used + 2 + widths[c] <= size.columns); ++c) {
      line.push_back({"  ", Style::plain});
      for (auto& span : padded(cell(c), widths[c])) line.push_back(std::move(span));
      used += 2 + widths[c];
    }
    return cut(line, size.columns);
  };
  out.push_back(line_of({{title, Style::heading}}, [&](std::size_t c) { return Line{{table.chips[c], Style::heading}}; }));
  const std::size_t room = size.rows > out.size() ? size.rows - out.size() : 0;
  view.row = std::min(view.row, table.rows.size() - std::min(table.rows.size(), room));
  for (std::size_t r = view.row; r < table.rows.size() && r < view.row + room; ++r)
    out.push_back(line_of({{table.rows[r].name, Style::plain}}, [&](std::size_t c) { return table.rows[r].cells[c]; }));
  return out;
}

std::vector<Line> help_lines(std::size_t width) {
  std::vector<Line> out = {{{"Keys", Style::heading}}};
  for (const char* text :
       {"1 device info   2 device telemetry   3 firmware versions", "T  the boxes at the left", "W  limits of the telemetry",
        "V  averages since the run began", "S  snapshot, into tt-smi-logs", "D  starts and stops a dump, into tt-smi-logs",
        "arrows  other rows and chips", "H  this help", "Q  quit",
        "Cores: tenths of the time that each works; '.' none, '*' all. Sensors are modelled: power and temperature follow from activity."})
    for (const std::string& line : screen::wrapped(text, width)) out.push_back({{line, Style::plain}});
  return out;
}

std::vector<Line> body(const Picture& picture, View& view, Size size) {
  if (view.help) return help_lines(size.columns);
  const bool wide = size.columns >= kWideColumns;
  if (!wide && view.sidebar_alone) {
    std::vector<Line> out = sidebar(picture);
    view.row = std::min(view.row, out.size() - std::min(out.size(), size.rows));
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(view.row));
    return out;
  }
  if (!wide || !view.sidebar) return tab_lines(picture, view, size);
  const std::vector<Line> left = sidebar(picture);
  const std::vector<Line> right = tab_lines(picture, view, {size.rows, size.columns - kSidebarColumns - 3});
  std::vector<Line> out(std::max(left.size(), right.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = padded(i < left.size() ? left[i] : Line{}, kSidebarColumns);
    out[i].push_back({" | ", Style::plain});
    if (i < right.size()) out[i].insert(out[i].end(), right[i].begin(), right[i].end());
  }
  return out;
}

}  // namespace

std::vector<Line> draw(const Picture& picture, View& view, Size size) {
  std::vector<Line> out = {header(picture, size.columns)};
  if (size.rows > 2)
    for (Line& line : body(picture, view, {size.rows - 2, size.columns})) out.push_back(cut(line, size.columns));
  out.resize(size.rows);
  if (size.rows > 1) out.back() = screen::bar(picture.message.empty() ? keys_text(view, size.columns) : picture.message, size.columns);
  return out;
}

}  // namespace buda::tt_smi
