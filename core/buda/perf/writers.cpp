// SPDX-License-Identifier: Apache-2.0
// Numbers and fields of the files.
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <charconv>

namespace buda::perf {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string out;
  for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return out + "\n";
}

std::string rounded(double value, int decimals) {
  char text[400];  // the largest finite value has 309 digits before the point
  std::string out(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr);
  if (decimals == 0) return out;
  out.resize(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string cycles_text(SimTime time) { return cat(time.ticks / SimTime::kPerCycle); }

const EpochSummary::Op* find_op(const EpochSummary& epoch, std::string_view name) {
  const auto found = std::find_if(epoch.ops.begin(), epoch.ops.end(), [&](const auto& op) { return op.name == name; });
  return found == epoch.ops.end() ? nullptr : &*found;
}

const EpochSummary* find_epoch(const Summary& summary, std::string_view graph) {
  const auto found = std::find_if(summary.epochs.begin(), summary.epochs.end(), [&](const auto& e) { return e.graph == graph; });
  return found == summary.epochs.end() ? nullptr : &*found;
}

std::string folder_of(const EpochSummary& epoch, std::size_t number) {
  const std::size_t comma = epoch.graph.find(',');
  return comma == std::string::npos ? epoch.graph : cat(epoch.graph.substr(0, comma), "_temporal_epoch_", number);
}

}  // namespace buda::perf
