// SPDX-License-Identifier: Apache-2.0
// Sizes on a logarithmic scale, errors in per cent.
#include "drawing.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace buda::silicon {
namespace {

// Of a panel, in pixels.
constexpr double kWidth = 300, kHeight = 170, kLeft = 44, kTop = 26, kGap = 24;
constexpr int kPanelsPerRow = 3;
constexpr double kMaxError = 40;  // beyond it points stand at the border

std::string pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

double x_of(const Panel& panel, double size) {
  const double at = (std::log10(size) - panel.least) / (panel.most - panel.least);
  return kLeft + std::clamp(at, 0.0, 1.0) * kWidth;
}

double y_of(double percent) { return kTop + (1 - std::clamp(percent / kMaxError, -1.0, 1.0)) / 2 * kHeight; }

std::string axes(const Panel& panel) {
  std::string out = cat("<text x=\"", pixels(kLeft), "\" y=\"14\" class=\"title\">", panel.title, "</text>\n");
  for (int percent = -40; percent <= 40; percent += 20)
    out += cat("<path d=\"M", pixels(kLeft), ' ', pixels(y_of(percent)), 'h', pixels(kWidth), "\" class=\"", percent == 0 ? "zero" : "grid",
               "\"/><text x=\"", pixels(kLeft - 6), "\" y=\"", pixels(y_of(percent) + 4), "\" class=\"left\">", percent, "</text>\n");
  for (int power = panel.least; power <= panel.most; ++power) {
    const double x = x_of(panel, std::pow(10, power));
    out += cat("<path d=\"M", pixels(x), ' ', pixels(kTop), 'v', pixels(kHeight), "\" class=\"grid\"/><text x=\"", pixels(x), "\" y=\"",
               pixels(kTop + kHeight + 14), "\" class=\"below\">1e", power, "</text>\n");
  }
  return out;
}

std::string drawn(const Panel& panel) {
  std::string path;
  for (const auto& [size, error] : panel.points) path += cat('M', pixels(x_of(panel, size)), ' ', pixels(y_of(error)), "h0");
  return cat(axes(panel), "<path class=\"points\" d=\"", path, "\"/>\n");
}

}  // namespace

std::string drawing(const std::vector<Panel>& panels) {
  std::string out;
  int count = 0;
  for (const Panel& panel : panels) {
    const double x = (count % kPanelsPerRow) * (kLeft + kWidth + kGap), y = (count / kPanelsPerRow) * (kTop + kHeight + 2 * kGap);
    out += cat("<g transform=\"translate(", pixels(x), ' ', pixels(y), ")\">\n", drawn(panel), "</g>\n");
    ++count;
  }
  const int rows = (count + kPanelsPerRow - 1) / kPanelsPerRow;
  return cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", pixels(kPanelsPerRow * (kLeft + kWidth + kGap)), "\" height=\"",
             pixels(rows * (kTop + kHeight + 2 * kGap)),
             "\">\n<style>text{font:11px sans-serif;fill:#333}.title{font-weight:bold}.left{text-anchor:end}.below{text-anchor:middle}"
             ".grid{stroke:#ddd}.zero{stroke:#888}.points{stroke:#1565c0;stroke-width:3;stroke-linecap:round;stroke-opacity:.4}</style>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             out, "</svg>\n");
}

}  // namespace buda::silicon
