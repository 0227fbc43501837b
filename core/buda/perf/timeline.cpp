// SPDX-License-Identifier: Apache-2.0
// A picture of the epoch that takes most of the time: a row for each op, over the time of one execution. Bars are inputs, from the first
// step of a core to the last of any; the dark part of a bar's height is the part of it in which kernels worked.
#include <buda/perf/op_rows.hpp>
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>
#include <buda/io/svg.hpp>

#include <algorithm>

namespace buda::perf {
namespace {

using io::svg_element, io::svg_text, io::svg_title;

constexpr double kNames = 260, kWidth = 900, kRow = 16, kTop = 64, kMargin = 12;

std::string bar_element(const Bar& bar, double y, double x, double width, std::string_view dark, std::string_view light) {
  const double part = work_share(bar), height = kRow - 4;
  const std::string what = cat(bar.first == bar.last ? cat("input ", bar.first) : cat("inputs ", bar.first, " to ", bar.last), ", cycles ",
                               cycles_text(bar.begin), " to ", cycles_text(bar.end), ", kernels work ", rounded(100 * part, 0), " %");
  const std::string title = svg_title(what);
  return svg_element("rect", {{"x", x}, {"y", y}, {"width", width}, {"height", height}, {"fill", light}}, title) +
         svg_element("rect", {{"x", x}, {"y", y + height * (1 - part)}, {"width", width}, {"height", height * part}, {"fill", dark}},
                     title);
}

std::string axis(double cycles, double bottom) {
  double step = 1;
  while (cycles / step > 10) step *= cycles / step > 20 ? (cycles / step > 50 ? 10 : 5) : 2;
  std::string out;
  for (double at = 0; at <= cycles; at += step) {
    const double x = kNames + kWidth * at / std::max(cycles, 1.0);
    out += svg_element("line", {{"x1", x}, {"y1", kTop - 4}, {"x2", x}, {"y2", bottom}, {"stroke", "#ddd"}});
    out += svg_text(x + 2, kTop - 6, 9, rounded(at, 0));
  }
  return out;
}

std::string shortened_name(const std::string& name) {
  constexpr std::size_t kMost = 40;
  return name.size() <= kMost ? name : "…" + name.substr(name.size() - kMost + 1);
}

}  // namespace

std::string timeline_svg(const Summary& summary, const Executions& executions) {
  const auto epoch = std::max_element(summary.epochs.begin(), summary.epochs.end(),
                                      [](const auto& a, const auto& b) { return a.total.ticks < b.total.ticks; });
  if (epoch == summary.epochs.end()) return io::svg_page(kWidth, kTop, "");
  const auto execution = std::find_if(executions.begin(), executions.end(), [&](const auto& x) { return x.graph == epoch->graph; });
  if (execution == executions.end()) return io::svg_page(kWidth, kTop, "");
  const auto rows = rows_of(*execution);
  const double cycles = execution->end.cycles() - execution->begin.cycles();
  const double per_pixel = static_cast<double>(execution->end.ticks - execution->begin.ticks) / kWidth;
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  std::string body =
      svg_text(kMargin, 20, 14, cat("epoch '", epoch->graph, "': ", rounded(cycles, 0), " cycles for ", summary.counted(epoch->inputs)));
  if (!epoch->causes.empty())
    body += svg_text(kMargin, 38, 11,
                     cat("limited by ", epoch->causes.front().what, " (", rounded(100 * epoch->causes.front().share, 0), " %)"));
  body += axis(cycles, bottom);
  constexpr std::string_view kDark[] = {"#2b6cb0", "#2f855a"}, kLight[] = {"#bee3f8", "#c6f6d5"};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = kTop + kRow * static_cast<double>(r) + 2;
    body += svg_text(kMargin, y + kRow - 6, 10, cat(shortened_name(rows[r].name), " (", rows[r].cores, ')'));
    std::size_t shade = 0;
    for (const Bar& bar : drawn_bars(rows[r], per_pixel)) {
      const double x = kNames + static_cast<double>(bar.begin.ticks - execution->begin.ticks) / per_pixel;
      const double width = std::max(static_cast<double>(bar.end.ticks - bar.begin.ticks) / per_pixel, 0.5);
      body += bar_element(bar, y, x, width, kDark[shade % 2], kLight[shade % 2]);
      ++shade;
    }
  }
  return io::svg_page(kNames + kWidth + kMargin, bottom + kMargin, body);
}

}  // namespace buda::perf
