// SPDX-License-Identifier: Apache-2.0
// An SVG of predictions: panels with a point per measurement, its size against its error.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace buda::silicon {

struct Panel {
  std::string title;
  std::vector<std::pair<double, double>> points;  // a size, and an error in per cent
  int least = 2, most = 7;                        // powers of ten that the horizontal axis goes from and to
};

std::string drawing(const std::vector<Panel>& panels);

}  // namespace buda::silicon
