// SPDX-License-Identifier: Apache-2.0
// Panels, cells and colours of the drawing. Sizes are pixels.
#include <buda/balance/emit/placement_picture.hpp>

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>
#include <buda/io/svg.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

constexpr double kCellX = 84, kCellY = 44, kStrip = 10;       // a worker, a harvested row
constexpr double kMargin = 16, kCaption = 36, kHeader = 104;  // around panels, above a grid, above all panels
constexpr double kWidestPage = 1900, kNarrowestPage = 900;
constexpr double kNameLetter = 6.6, kLetter = 5.5;  // wide enough for most names at 11 pixels, for texts at 9
constexpr std::string_view kReads = "#1f5fa8", kWrites = "#8e3b8e";

// Tops of the logical rows of workers, and of the harvested rows between them.
struct RowLayout {
  std::vector<double> workers, harvested;
  double height = 0;
};

RowLayout row_layout(const device::DeviceDescriptor& device) {
  std::map<std::int32_t, bool> rows;  // by NoC row, whether it is harvested
  for (std::int32_t y : device.workers.y) rows.emplace(y, false);
  for (std::int32_t y : device.harvested_y) rows.emplace(y, true);
  RowLayout out;
  for (const auto& [y, is_harvested] : rows) {
    (is_harvested ? out.harvested : out.workers).push_back(out.height);
    out.height += is_harvested ? kStrip : kCellY;
  }
  return out;
}

struct QueuesOfOp {
  std::vector<const ReportQueue*> read, written;
};

std::map<std::string, QueuesOfOp> queues_by_op(const PlacementReport& report) {
  std::map<std::string, QueuesOfOp> out;
  for (const ReportQueue& q : report.queues) {
    for (const std::string& op : q.readers) out[op].read.push_back(&q);
    if (!q.writer.empty()) out[q.writer].written.push_back(&q);
  }
  return out;
}

double share_of(std::int64_t part, std::int64_t whole) { return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

// Three digits: 992, 12.4k, 1.04M.
std::string short_count(std::int64_t count) {
  if (count < 1000) return cat(count);
  auto value = static_cast<double>(count);
  std::string_view unit;
  for (std::string_view next : {"k", "M", "G"})
    if (value >= 999.5) value /= 1000, unit = next;
  const double step = value < 10 ? 100 : value < 100 ? 10 : 1;
  return cat(std::round(value * step) / step, unit);
}

std::string percent(double share) { return cat(std::llround(share * 100), " %"); }

// From pale yellow to orange; black text is legible on all of it.
std::string colour_of(double share) {
  constexpr double kLow[] = {255, 250, 225}, kHigh[] = {240, 120, 50};
  std::string out = "rgb(";
  for (int i = 0; i < 3; ++i) out += cat(i == 0 ? "" : ",", std::llround(kLow[i] + (kHigh[i] - kLow[i]) * std::clamp(share, 0.0, 1.0)));
  return out + ')';
}

std::string queue_line(std::string_view verb, const ReportQueue& q) {
  return cat('\n', verb, ' ', q.name, ": ", q.role, ", ", bytes_text(q.bytes),
             q.channels.size() == 1 ? " in DRAM channel " : " in DRAM channels ", join(q.channels, " "),
             q.prologue ? ", before the epoch" : "");
}

std::string tooltip(const ReportOp& op, double share, const QueuesOfOp& queues) {
  std::string out = cat(op.name, ": ", op.type, op.node == op.name ? "" : cat(", node ", op.node), "\ngrid ", op.grid.rows, 'x',
                        op.grid.cols, op.transposed ? ", transposed" : "", " at [", op.grid_loc.row, ", ", op.grid_loc.col, "]\n",
                        op.cycles.limiter, " cycles for an input, ", percent(share), " of the epoch's interval\nkernel ", op.cycles.kernel);
  for (std::size_t i = 0; i < op.cycles.inputs.size(); ++i) out += cat(", input ", i, ' ', op.cycles.inputs[i]);
  out += cat(", output ", op.cycles.output);
  for (const ReportUsage& u : op.resources)
    if (u.resource == "l1") out += cat("\nL1 ", u.used, " of ", u.available, " bytes");
  for (const ReportQueue* q : queues.read) out += queue_line("reads", *q);
  for (const ReportQueue* q : queues.written) out += queue_line("writes", *q);
  return out;
}

// A triangle that points into the op or out of it, with the number of queues; its right edge is at x. Gives what it takes of the width.
double draw_mark(double x, double y, bool is_read, std::size_t count, std::string& out) {
  if (count == 0) return 0;
  const std::string number = cat(count);
  const double left = x - 10 - kLetter * static_cast<double>(number.size());
  const std::string path = is_read ? cat('M', std::llround(left), ' ', std::llround(y), "h8l-4 7z")
                                   : cat('M', std::llround(left), ' ', std::llround(y + 7), "h8l-4 -7z");
  out += io::svg_element("path", {{"d", path}, {"fill", is_read ? kReads : kWrites}});
  out += io::svg_text(left + 9, y + 7.5, 9, number);
  return x - left + 3;
}

std::string draw_op(const ReportOp& op, double share, const QueuesOfOp& queues, const RowLayout& rows, double left, double top) {
  const GridRect rect{op.grid_loc, op.transposed ? GridShape{op.grid.cols, op.grid.rows} : op.grid};
  const auto first = static_cast<std::size_t>(rect.origin.row), last = static_cast<std::size_t>(rect.origin.row + rect.shape.rows - 1);
  if (rect.origin.row < 0 || last >= rows.workers.size()) return "";
  const double x = left + kCellX * rect.origin.col, y = top + rows.workers[first], width = kCellX * rect.shape.cols;
  const double height = rows.workers[last] + kCellY - rows.workers[first];
  std::string out = io::svg_element(
      "rect",
      {{"x", x + 1}, {"y", y + 1}, {"width", width - 2}, {"height", height - 2}, {"rx", 3}, {"fill", colour_of(share)}, {"stroke", "#555"}},
      io::svg_title(tooltip(op, share, queues)));
  out += io::svg_text(x + 5, y + 14, 11, shortened_to_end(op.name, static_cast<std::size_t>((width - 8) / kNameLetter), "…"));
  double right = x + width - 4;
  right -= draw_mark(right, y + 18, false, queues.written.size(), out);
  draw_mark(right, y + 18, true, queues.read.size(), out);
  out += io::svg_text(x + 5, y + 26, 9, cat(op.grid.rows, 'x', op.grid.cols, op.transposed ? "^T" : "", ' ', percent(share)));
  out += io::svg_text(x + 5, y + 38, 9, cat(limiter_name(op.cycles), ' ', short_count(op.cycles.limiter)));
  return out;
}

// The strips come last, so that they are seen where an op reaches over them. `is_alone`: all epochs are on one chip.
std::string draw_epoch(std::size_t number, const ReportEpoch& epoch, bool is_alone, const std::map<std::string, QueuesOfOp>& queues,
                       const device::DeviceDescriptor& device, const RowLayout& rows, double left, double top) {
  std::int64_t interval = 0;
  for (const ReportOp& op : epoch.ops) interval = std::max(interval, op.cycles.limiter);
  const double width = kCellX * device.grid().cols, grid_top = top + kCaption;
  const auto fitting = static_cast<std::size_t>(width / (kNameLetter * 1.2));
  const std::string chip = is_alone ? "" : cat(", chip ", epoch.chip);
  std::string out = io::svg_text(left, top + 14, 13, shortened(cat("epoch ", number, ": ", epoch.graph, chip), fitting, "…"));
  std::string facts = cat(epoch.ops.size(), epoch.ops.size() == 1 ? " op, " : " ops, ", epoch.cores, " of ", device.grid().volume(),
                          " workers; ", epoch.cycles, " cycles; interval ", interval, " (", epoch.slowest_op, ')');
  out += io::svg_text(left, top + 29, 10, shortened(facts, fitting, "…"));
  for (double row : rows.workers)
    for (std::int32_t col = 0; col < device.grid().cols; ++col)
      out += io::svg_element("rect", {{"x", left + kCellX * col},
                                      {"y", grid_top + row},
                                      {"width", kCellX},
                                      {"height", kCellY},
                                      {"fill", "#fafafa"},
                                      {"stroke", "#ddd"}});
  static const QueuesOfOp none;
  for (const ReportOp& op : epoch.ops) {
    auto of_op = queues.find(op.name);
    out += draw_op(op, share_of(op.cycles.limiter, interval), of_op == queues.end() ? none : of_op->second, rows, left, grid_top);
  }
  for (double row : rows.harvested)
    out += io::svg_element(
        "rect", {{"x", left}, {"y", grid_top + row}, {"width", width}, {"height", kStrip}, {"fill", "url(#hatched)"}, {"stroke", "#999"}},
        io::svg_title("harvested row"));
  return out;
}

std::string draw_legend(double left, double top) {
  std::string out = io::svg_text(left, top + 9, 10, "share of the epoch's interval:");
  double x = left + 150;
  for (double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out += io::svg_element("rect", {{"x", x}, {"y", top}, {"width", 36}, {"height", 12}, {"fill", colour_of(share)}, {"stroke", "#555"}});
    out += io::svg_text(x + 4, top + 9.5, 9, percent(share));
    x += 36;
  }
  const auto entry = [&](bool is_read, std::string_view text) {
    x += 30;
    draw_mark(x, top + 2, is_read, 1, out);
    out += io::svg_text(x + 3, top + 9.5, 10, text);
    x += 6 + kNameLetter * static_cast<double>(text.size());
  };
  entry(true, "queues that it reads from DRAM");
  entry(false, "queues that it writes");
  out += io::svg_element("rect", {{"x", x + 20}, {"y", top}, {"width", 36}, {"height", 12}, {"fill", "url(#hatched)"}, {"stroke", "#999"}});
  return out + io::svg_text(x + 60, top + 9.5, 10, "harvested row");
}

// How full each DRAM channel is of queues.
std::string draw_channels(const ReportTotals& totals, double left, double top) {
  constexpr double kBar = 90, kPitch = 130;
  const bool one_chip =
      std::all_of(totals.dram.begin(), totals.dram.end(), [&](const ReportChannel& c) { return c.chip == totals.dram.front().chip; });
  std::map<std::int32_t, int> channels;  // by chip
  std::string out;
  for (std::size_t i = 0; i < totals.dram.size(); ++i) {
    const ReportChannel& c = totals.dram[i];
    const double x = left + kPitch * static_cast<double>(i),
                 full = c.capacity == 0 ? 0 : static_cast<double>(c.used) / static_cast<double>(c.capacity);
    const int number = channels[c.chip]++;
    const std::string name = one_chip ? cat(number) : cat(c.chip, '.', number);
    out += io::svg_text(x, top + 9, 10, cat("DRAM ", name, ": ", bytes_text(c.used)));
    out += io::svg_element("rect", {{"x", x}, {"y", top + 13}, {"width", kBar}, {"height", 6}, {"fill", "#fff"}, {"stroke", "#666"}},
                           io::svg_title(cat("DRAM channel ", name, ": ", c.used, " of ", c.capacity, " bytes")));
    out += io::svg_element("rect", {{"x", x}, {"y", top + 13}, {"width", kBar * std::min(full, 1.0)}, {"height", 6}, {"fill", "#34495e"}});
  }
  return out;
}

}  // namespace

std::string placement_svg(const PlacementReport& report, const device::DeviceDescriptor& device) {
  const RowLayout rows = row_layout(device);
  const auto queues = queues_by_op(report);
  const double pitch_x = kCellX * device.grid().cols + kMargin, pitch_y = kCaption + rows.height + kMargin;
  const std::size_t fitting = static_cast<std::size_t>(std::max(1.0, (kWidestPage - kMargin) / pitch_x));
  const std::size_t in_row = std::clamp<std::size_t>(report.epochs.size(), 1, fitting),
                    lines = (report.epochs.size() + in_row - 1) / in_row;
  std::string out =
      "<defs><pattern id=\"hatched\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<rect width=\"6\" height=\"6\" fill=\"#eee\" fill-opacity=\"0.6\"/><rect width=\"2\" height=\"6\" "
      "fill=\"#888\"/></pattern></defs>\n";
  out += io::svg_text(kMargin, 24, 16, cat("Placement of ", report.model, " on ", report.device, ", policy ", report.policy));
  out += draw_legend(kMargin, 38);
  out += draw_channels(report.totals, kMargin, 64);
  for (std::size_t e = 0; e < report.epochs.size(); ++e)
    out += draw_epoch(e, report.epochs[e], report.totals.chips.empty(), queues, device, rows,
                      kMargin + pitch_x * static_cast<double>(e % in_row), kHeader + pitch_y * static_cast<double>(e / in_row));
  return io::svg_page(std::max(kNarrowestPage, kMargin + pitch_x * static_cast<double>(in_row)),
                      kHeader + pitch_y * static_cast<double>(lines) + kMargin, out);
}

}  // namespace buda::balance
