// SPDX-License-Identifier: Apache-2.0
// Verdicts as lines and tables.
#include "verdict.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>

namespace buda::trial {
namespace {

constexpr char kLineEnd = '\x1e';  // in the place of the ends of lines within a text

std::vector<std::string> parts_of(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == at)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

}  // namespace

std::string lines_of(const Verdict& verdict) {
  std::string out;
  for (const Finding& f : verdict.findings) {
    std::string text = f.text;
    std::replace(text.begin(), text.end(), '\n', kLineEnd);
    out += cat("fault ", f.kind, "\t", text, "\n");
  }
  for (const auto& [name, count] : verdict.counts) out += cat("count ", name, "\t", count, "\n");
  return out;
}

void read_line(const std::string& line, Verdict& verdict) {
  const std::size_t tab = line.find('\t');
  if (line.starts_with("fault ")) {
    std::string text = line.substr(tab + 1);
    std::replace(text.begin(), text.end(), kLineEnd, '\n');
    verdict.findings.push_back({line.substr(6, tab - 6), std::move(text)});
  } else if (line.starts_with("count ")) {
    verdict.counts[line.substr(6, tab - 6)] += std::atoll(line.c_str() + tab + 1);
  }
}

std::string run_of(const std::string& kind) {
  const std::vector<std::string> parts = parts_of(kind, '|');
  return cat(parts[3], " ", parts[4]);
}

std::string without_run(const std::string& kind) {
  const std::vector<std::string> parts = parts_of(kind, '|');
  return cat(parts[0], "|", parts[1], "|", parts[2], "|", parts[5]);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i) out += cat(" ", row[i], std::string(widths[i] - row[i].size(), ' '), " |");
    out += "\n";
  }
  return out;
}

std::string finding_table(const std::vector<Verdict>& verdicts) {
  struct Kind {
    std::int64_t count = 0;
    std::uint64_t seed = 0;
    std::map<std::string, std::int64_t> by_run;
  };
  std::map<std::string, Kind> kinds;
  std::set<std::string> runs;
  for (const Verdict& v : verdicts)
    for (const Finding& f : v.findings) {
      const std::string run = run_of(f.kind);
      runs.insert(run);
      Kind& kind = kinds[without_run(f.kind)];
      if (++kind.count == 1) kind.seed = v.seed;
      ++kind.by_run[run];
    }
  std::vector<std::pair<std::string, Kind>> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::vector<std::vector<std::string>> rows = {{"op", "type", "range", "what"}};
  rows[0].insert(rows[0].end(), runs.begin(), runs.end());
  rows[0].emplace_back("a seed");
  for (auto& [name, kind] : sorted) {
    rows.push_back(parts_of(name, '|'));
    for (const std::string& run : runs) rows.back().push_back(cat(kind.by_run[run]));
    rows.back().push_back(cat(kind.seed));
  }
  return table_text(rows);
}

std::string placement_table(const Counts& counts) {
  // By device, op and range.
  struct Places {
    std::int64_t chip = 0, host = 0, along = 0;
  };
  static const std::vector<std::string> kRanges = {"b8", "b11", "b16", "b24", "b31", "b63"};
  std::map<std::pair<std::string, std::string>, std::map<std::string, Places>> places;
  for (const auto& [name, count] : counts) {
    const std::vector<std::string> parts = parts_of(name, '|');
    if (parts.size() != 5 || parts[0] != "place") continue;
    const std::string all = parts[2].ends_with(" of floats") ? "all of floats" : "all";
    for (const std::string& op : {parts[2], all}) {
      Places& place = places[{parts[1], op}][parts[3]];
      (parts[4] == "chip" ? place.chip : parts[4] == "host" ? place.host : place.along) += count;
    }
  }
  std::vector<std::vector<std::string>> rows = {{"device", "op"}};
  for (const std::string& range : kRanges) rows[0].push_back(cat(range, " chip/host/along"));
  for (auto& [key, ranges] : places) {
    rows.push_back({key.first, key.second});
    for (const std::string& range : kRanges)
      rows.back().push_back(cat(ranges[range].chip, "/", ranges[range].host, "/", ranges[range].along));
  }
  return table_text(rows);
}

std::string class_table(const Counts& counts) {
  std::vector<std::vector<std::string>> rows = {{"device", "mode", "op", "elements"}};
  for (const auto& [name, count] : counts) {
    const std::vector<std::string> parts = parts_of(name, '|');
    if (parts.size() == 4 && parts[0] == "pair") rows.push_back({parts[1], parts[2], parts[3], cat(count)});
  }
  return table_text(rows);
}

}  // namespace buda::trial
