// SPDX-License-Identifier: Apache-2.0
// Options and their values.
#include "settings.hpp"

#include "../core.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace buda::tensix {
namespace {

schema::OptionSpec option(std::string name, schema::OptionType type, std::string summary, std::string value, bool repeatable) {
  schema::OptionSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.summary = std::move(summary);
  spec.value_name = std::move(value);
  spec.repeatable = repeatable;
  return spec;
}

std::optional<std::uint32_t> number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::pair<std::string_view, std::string_view> halves(std::string_view text, char between) {
  const std::size_t at = text.rfind(between);
  return at == std::string_view::npos ? std::pair{text, std::string_view()} : std::pair{text.substr(0, at), text.substr(at + 1)};
}

std::optional<Watch> watch_of(const std::string& text) {
  constexpr std::uint32_t kL1 = 1 << 21, kSemaphoreCount = 8, kRows = 1024;
  const auto [kind, which] = halves(text, ':');
  const auto value = number(which);
  if (!value) return std::nullopt;
  if (kind == "l1" && *value % 4 == 0 && *value < kL1) return Watch{Watch::What::l1, *value, text};
  if (kind == "sem" && *value < kSemaphoreCount) return Watch{Watch::What::semaphore, *value, text};
  if (kind == "dst" && *value < kRows) return Watch{Watch::What::dest, *value, text};
  return std::nullopt;
}

Diagnostic wrong(const char* option, const std::string& value, std::string_view want) {
  return input_error("TX003", {}, cat("target.tensix.", option, "=", value, ": this is not ", want));
}

}  // namespace

std::vector<schema::OptionSpec> debug_options() {
  using schema::OptionType;
  return {option("trace", OptionType::text, "write what the cores execute to a file", "FILE", false),
          option("dest", OptionType::text, "write what the destination register of each core holds in the end to a file", "FILE", false),
          option("trace-core", OptionType::text, "core of the op's grid, row and column, that is traced; default: all", "ROW-COL", true),
          option("trace-thread", OptionType::text, "thread that is traced: unpack, math or pack; default: all", "THREAD", true),
          option("break", OptionType::text, "end the run before the first instruction of a line of the kernels", "FILE:LINE", true),
          option("watch", OptionType::text, "end the run when a word of L1, a semaphore or a row of the destination changes",
                 "l1:ADDRESS|sem:NUMBER|dst:ROW", true)};
}

std::vector<std::pair<std::string, std::string>> awaited(const DebugSettings& settings) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& line : settings.breaks) out.emplace_back("break", line);
  for (const Watch& watch : settings.watches) out.emplace_back("watch", watch.text);
  return out;
}

Result<DebugSettings> debug_settings(const schema::OptionValues& values) {
  DebugSettings out;
  out.trace = values.text("trace");
  out.dest = values.text("dest");
  for (const std::string& text : values.texts("trace-core")) {
    const auto [row, col] = halves(text, '-');
    const auto r = number(row), c = number(col);
    if (!r || !c || *r > 255 || *c > 255) return wrong("trace-core", text, "a row and a column, as 0-1");
    out.cores.push_back({static_cast<std::int32_t>(*r), static_cast<std::int32_t>(*c)});
  }
  if (!values.texts("trace-thread").empty()) out.threads = {};
  for (const std::string& text : values.texts("trace-thread")) {
    const auto found = std::find(kThreadNames.begin(), kThreadNames.end(), text);
    if (found == kThreadNames.end()) return wrong("trace-thread", text, "a thread: unpack, math or pack");
    out.threads[static_cast<std::size_t>(found - kThreadNames.begin())] = true;
  }
  for (const std::string& text : values.texts("break")) {
    const auto [file, line] = halves(text, ':');
    if (file.empty() || !number(line)) return wrong("break", text, "a file and a line, as matmul.h:88");
    out.breaks.push_back(text);
  }
  for (const std::string& text : values.texts("watch")) {
    auto watch = watch_of(text);
    if (!watch) return wrong("watch", text, "l1:ADDRESS (a multiple of 4), sem:NUMBER (below 8) or dst:ROW (below 1024)");
    out.watches.push_back(std::move(*watch));
  }
  return out;
}

}  // namespace buda::tensix
