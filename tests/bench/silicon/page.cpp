// Markdown and SVG of predictions beside measurements.
#include "page.hpp"

#include "table.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace buda::silicon {
namespace {

// A panel of the drawing, in pixels, and what it shows: cycles on a logarithmic scale, errors in per cent.
constexpr double kWidth = 300, kHeight = 170, kLeft = 44, kTop = 26, kGap = 24;
constexpr int kPanelsPerRow = 3;
constexpr double kLeastCycles = 2, kMostCycles = 7;  // powers of ten
constexpr double kMostError = 40;                    // beyond it points stand at the border

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

double x_of(double cycles) {
  double at = (std::log10(cycles) - kLeastCycles) / (kMostCycles - kLeastCycles);
  return kLeft + std::clamp(at, 0.0, 1.0) * kWidth;
}

double y_of(double percent) { return kTop + (1 - std::clamp(percent / kMostError, -1.0, 1.0)) / 2 * kHeight; }

std::string axes(const ClassErrors& c) {
  std::string out = cat("<text x=\"", number(kLeft), "\" y=\"14\" class=\"title\">", c.arch, ": ", c.name, ", mean ", number(c.mean()),
                        " %, goal ", number(c.goal), " %</text>\n");
  for (int percent = -40; percent <= 40; percent += 20)
    out += cat("<path d=\"M", number(kLeft), ' ', number(y_of(percent)), 'h', number(kWidth), "\" class=\"", percent == 0 ? "zero" : "grid",
               "\"/><text x=\"", number(kLeft - 6), "\" y=\"", number(y_of(percent) + 4), "\" class=\"left\">", percent, "</text>\n");
  for (int power = 2; power <= 7; ++power)
    out += cat("<path d=\"M", number(x_of(std::pow(10, power))), ' ', number(kTop), 'v', number(kHeight), "\" class=\"grid\"/><text x=\"",
               number(x_of(std::pow(10, power))), "\" y=\"", number(kTop + kHeight + 14), "\" class=\"below\">1e", power, "</text>\n");
  return out;
}

std::string panel(const ClassErrors& c, const std::vector<Prediction>& predictions) {
  std::string path;
  for (const Prediction& p : predictions)
    if (p.measured->arch == c.arch && class_name(p.measured->op) == c.name)
      path += cat('M', number(x_of(p.measured->cycles)), ' ', number(y_of(100 * p.error())), "h0");
  return cat(axes(c), "<path class=\"points\" d=\"", path, "\"/>\n");
}

}  // namespace

std::string drawing(const std::vector<Prediction>& predictions) {
  std::string panels;
  int count = 0;
  for (const ClassErrors& c : classes_of(predictions)) {
    double x = (count % kPanelsPerRow) * (kLeft + kWidth + kGap), y = (count / kPanelsPerRow) * (kTop + kHeight + 2 * kGap);
    panels += cat("<g transform=\"translate(", number(x), ' ', number(y), ")\">\n", panel(c, predictions), "</g>\n");
    ++count;
  }
  int rows = (count + kPanelsPerRow - 1) / kPanelsPerRow;
  return cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(kPanelsPerRow * (kLeft + kWidth + kGap)), "\" height=\"",
             number(rows * (kTop + kHeight + 2 * kGap)),
             "\">\n<style>text{font:11px sans-serif;fill:#333}.title{font-weight:bold}.left{text-anchor:end}.below{text-anchor:middle}"
             ".grid{stroke:#ddd}.zero{stroke:#888}.points{stroke:#1565c0;stroke-width:3;stroke-linecap:round;stroke-opacity:.4}</style>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             panels, "</svg>\n");
}

std::string page_text(const std::vector<Prediction>& predictions, const Simulated& simulated) {
  return cat(
      "# Cost model of kernels compared with silicon\n"
      "\n"
      "This page shows how accurately `core/buda/cost` predicts cycles that were measured on chips, for single ops on one core. The "
      "measurements\n"
      "are those of the public TT-Buda repository (`perf_lib/op_model`, Apache-2.0), to which the rows of `share/devices/*.yaml` are "
      "fitted. **The\n"
      "errors on this page are held out** (five-fold cross-validation): the measurements of a row are divided by blocking into five "
      "parts, and each\n"
      "part is predicted by a fit of the other four, so that no blocking is in both. The shipped rows are fitted to all five parts.\n"
      "\n"
      "A tool writes this page and its drawing:\n"
      "\n"
      "    silicon fit DIR share                    fits the rows to a folder of measurements and writes them\n"
      "    silicon page DIR share docs/conformance  writes this page\n"
      "    silicon judge DIR share                  evaluates the shipped rows on another folder\n"
      "    silicon sim DIR share                    evaluates held-out predictions in the simulator\n"
      "\n"
      "`silicon` is in `tests/bench` of a build; `tests/bench/silicon/measurements.hpp` describes the format of such a folder. `judge` "
      "exits with 1\n"
      "if the error of a class exceeds its goal.\n"
      "\n"
      "## By class\n\n",
      class_table(classes_of(predictions)),
      "\n![Errors by cycles](silicon.svg)\n\n"
      "Each point is a measurement: measured cycles on the horizontal axis, error of the prediction in per cent on the vertical axis.\n\n"
      "## In the simulator\n"
      "\n"
      "The same predictions, each as the kernel of a one-core netlist whose stream programs the simulator of target `grid` executes. The "
      "location\n"
      "of operands during the measurements is not known, and some arrived faster than a DRAM channel can deliver; here memory is as fast "
      "as the\n"
      "networks. The second table shows where the transfer of operands takes longer than the kernel; limits of operand transfer that are "
      "already\n"
      "part of a kernel's cycles are not counted twice.\n"
      "\n",
      class_table(classes_of(simulated.predictions)), "\n", feed_table(simulated), "\n", simulated.left_out.size(),
      " measurements are omitted, because their buffers, as the compiler lays them out, do not fit in the L1 of a core.\n\n"
      "## The ten worst\n\n",
      worst_table(predictions),
      "\n## What is not measured\n\n"
      "There are no public measurements of fused ops, tilizers, embeddings, top-k, Grayskull's 16-bit matmuls, matmuls with 16-bit "
      "operands below\n"
      "HiFi4, and any op on Blackhole. The cycles of a fused op are the sum of those of its steps, without packing and unpacking what "
      "stays in the\n"
      "destination register; other ops use the row of the nearest format, or that of a copy, and `cost::KernelCycles::basis` says which. "
      "The\n"
      "transfer of operands during the measurements is not known: copies of more than about 48 KiB run at 13 to 14 bytes per cycle in "
      "all formats,\n"
      "which may be the rate of the transfer rather than of the kernel.\n"
      "\n"
      "## By file\n\n",
      file_table(predictions));
}

}  // namespace buda::silicon
