// SPDX-License-Identifier: Apache-2.0
// The columns of the report that the dashboard shows.
#include "apps/profiler/ops_report.hpp"

#include "apps/profiler/csv.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace buda::profiler {
namespace {

enum Column : std::size_t { code, call, attributes, begin, end, kernel };
constexpr std::array<std::string_view, 6> kColumns = {
    "OP CODE", "GLOBAL CALL COUNT", "ATTRIBUTES", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "DEVICE KERNEL DURATION [ns]"};

using Places = std::array<std::size_t, kColumns.size()>;

Result<Places> places_in(const std::vector<std::string>& heading, const std::string& path) {
  Places out{};
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const auto found = std::find(heading.begin(), heading.end(), kColumns[c]);
    if (found == heading.end()) {
      Diagnostic d = input_error("PF005", {path, 1, 1}, cat("has no column '", kColumns[c], '\''));
      d.hint = "'runner --perf DIR' writes such a report, DIR/ops_perf_results.csv";
      return d;
    }
    out[c] = static_cast<std::size_t>(found - heading.begin());
  }
  return out;
}

std::optional<OpCall> parse_call(const std::vector<std::string>& fields, const Places& places) {
  const auto number = parse_uint(fields[places[call]]), from = parse_uint(fields[places[begin]]), to = parse_uint(fields[places[end]]);
  if (!number || !from || !to || *to < *from) return std::nullopt;
  return OpCall{*number, fields[places[attributes]], *from, *to};
}

// Empty where the chip's clock is unknown.
std::optional<double> parse_duration(const std::string& text) { return text.empty() ? 0 : parse_double(text); }

}  // namespace

Result<OpsReport> parse_ops_report(std::string_view text, const std::string& path) {
  std::uint32_t lines = 1;
  const auto heading = take_csv_line(text, lines);
  if (!heading) return input_error("PF005", {path, 1, 1}, "a quote does not end");
  BUDA_ASSIGN(const Places places, places_in(*heading, path));
  OpsReport out;
  std::map<std::string, std::size_t> index;
  while (!text.empty()) {
    const std::uint32_t line = lines;
    const auto fields = take_csv_line(text, lines);
    if (!fields) return input_error("PF005", {path, line, 1}, "a quote does not end");
    if (fields->size() != heading->size())
      return input_error("PF005", {path, line, 1}, cat("has ", fields->size(), " fields; the heading has ", heading->size()));
    auto made = parse_call(*fields, places);
    const auto kernel_ns = parse_duration((*fields)[places[kernel]]);
    if (!made || !kernel_ns || !(*kernel_ns >= 0)) return input_error("PF005", {path, line, 1}, "a number of the op is none");
    const auto [it, fresh] = index.try_emplace((*fields)[places[code]], out.ops.size());
    if (fresh) out.ops.push_back({.code = it->first, .calls = {}, .kernel_ns = 0});
    OpCalls& op = out.ops[it->second];
    op.kernel_ns += *kernel_ns;
    op.calls.push_back(std::move(*made));
  }
  return out;
}

}  // namespace buda::profiler
