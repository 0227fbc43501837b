// SPDX-License-Identifier: Apache-2.0
// Which part of which table is shown, and how keys change that.
#pragma once

#include <buda/screen/screen.hpp>
#include "apps/perf-analyzer/tables.hpp"

#include <optional>
#include <string>

namespace buda::perf_analyzer {

using screen::Key;
using screen::Line;
using screen::Size;

struct View {
  std::optional<std::size_t> epoch;  // none: the table of epochs
  std::size_t row = 0;               // the first that is shown
  std::size_t column = 0;            // steps to the right
  bool full_names = false;
  bool help = false;
  std::optional<std::string> entry;  // digits of the number that is being entered
  bool quit = false;
};

View press(const Run& run, View view, Key key, Size size);

}  // namespace buda::perf_analyzer
