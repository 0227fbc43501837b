// SPDX-License-Identifier: Apache-2.0
// What a user wants to see of the cores, as the options say it.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/diag/result.hpp>
#include <buda/schema/option.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace buda::tensix {

// Something whose change ends the run: a word of L1 (by address), a semaphore, or a row of the destination.
struct Watch {
  enum class What : std::uint8_t { l1, semaphore, dest } what = What::l1;
  std::uint32_t which = 0;
  std::string text;  // as it was given: "sem:1"
};

struct DebugSettings {
  std::string trace, dest;                           // files; empty: none
  std::vector<GridCoord> cores;                      // that are traced; none: all
  std::array<bool, 3> threads = {true, true, true};  // that are traced
  std::vector<std::string> breaks;                   // lines: "matmul.h:88"
  std::vector<Watch> watches;

  bool any() const { return !trace.empty() || !breaks.empty() || !watches.empty(); }
};

// What ends a run, by its option: {"break", "matmul.h:88"}.
std::vector<std::pair<std::string, std::string>> awaited(const DebugSettings& settings);

std::vector<schema::OptionSpec> debug_options();
// What cannot be understood is TX003.
Result<DebugSettings> debug_settings(const schema::OptionValues& values);

}  // namespace buda::tensix
