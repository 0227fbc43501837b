// SPDX-License-Identifier: Apache-2.0
// Lines of tables with commas between their fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::profiler {

// The fields of a line, which is taken from the text; `lines` counts the ends of lines. Quotes inside of quotes are doubled. Nothing: a
// quote does not end.
std::optional<std::vector<std::string>> take_csv_line(std::string_view& text, std::uint32_t& lines);

}  // namespace buda::profiler
