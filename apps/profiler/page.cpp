// SPDX-License-Identifier: Apache-2.0
// Data for the script of the page.
#include "apps/profiler/page.hpp"

#include <buda/base/text.hpp>
#include <buda/serve/service.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace buda::profiler {
namespace {

using io::Node;

Node cycle(std::uint64_t value) { return Node::real(static_cast<double>(value)); }

Node bar(std::int64_t lane, std::uint64_t begin, std::uint64_t end, std::string text) {
  return Node::list({Node::integer(lane), cycle(begin), cycle(end), Node::string(std::move(text))});
}

Node texts(const std::vector<std::string>& values) {
  Node out = Node::list();
  for (const std::string& value : values) out.push(Node::string(value));
  return out;
}

// From a marker to another one, in each run.
std::vector<ZoneTime> times_between(const RiscLog& log, Marker begin, Marker end) {
  std::vector<ZoneTime> out;
  for (std::size_t r = 0; r < log.starts.size(); ++r) {
    const Stamp *from = find_marker(log.run(r), begin), *to = find_marker(log.run(r), end);
    if (from != nullptr && to != nullptr) out.push_back({r, from->cycle, to->cycle});
  }
  return out;
}

// What would not be told apart at first sight, nor be drawn quickly, is one bar: times that lie closer than `gap` cycles, where there are
// many.
void add_bars(Node& bars, std::int64_t lane, const std::vector<ZoneTime>& times, std::string_view what, std::uint64_t gap) {
  constexpr std::size_t kMany = 1000;
  const bool merges = times.size() > kMany;
  struct Runs {
    std::size_t first = 0, last = 0;
    std::uint64_t begin = 0, end = 0;
  };
  std::optional<Runs> open;
  const auto close = [&] {
    if (!open) return;
    const std::string which = open->first == open->last ? cat(", run ", open->first) : cat(", runs ", open->first, " to ", open->last);
    bars.push(bar(lane, open->begin, open->end, cat(what, which)));
    open.reset();
  };
  for (const ZoneTime& time : times) {
    if (!merges || !open || time.end - open->begin > gap) close();
    if (!open) open = Runs{time.run, time.run, time.begin, time.end};
    open->last = time.run;
    open->end = time.end;
  }
  close();
}

// RISCs with zones have a second lane each, after the first ones.
std::vector<std::size_t> riscs_with_zones(const DeviceLog& log, const ZoneNames& zones) {
  std::vector<std::size_t> out;
  for (std::size_t risc = 0; risc < kRiscs.size(); ++risc) {
    const auto has_any = [&](const CoreLog& core) {
      return std::any_of(zones.begin(), zones.end(), [&](const ZoneName& zone) { return !times_of(zone, core.riscs[risc]).empty(); });
    };
    if (std::any_of(log.cores.begin(), log.cores.end(), has_any)) out.push_back(risc);
  }
  return out;
}

Node core_row(const CoreLog& core, const ZoneNames& zones, const std::vector<std::size_t>& zoned, std::uint64_t gap) {
  Node bars = Node::list();
  // All RISCs of a core are of one firmware.
  add_bars(bars, -1, times_between(core.riscs[0], kFirmwareStart, kFirmwareEnd), "firmware", gap);
  for (std::size_t risc = 0; risc < kRiscs.size(); ++risc)
    add_bars(bars, static_cast<std::int64_t>(risc), times_between(core.riscs[risc], kKernelStart, kKernelEnd), cat(kRiscs[risc], " kernel"),
             gap);
  for (std::size_t i = 0; i < zoned.size(); ++i)
    for (const ZoneName& zone : zones)
      add_bars(bars, static_cast<std::int64_t>(kRiscs.size() + i), times_of(zone, core.riscs[zoned[i]]),
               cat(kRiscs[zoned[i]], " zone ", zone.name), gap);
  return Node::list({Node::string(cat("chip ", core.chip, " core ", core.x, "-", core.y)), std::move(bars)});
}

// A part of the whole time that is a few pixels wide.
std::uint64_t merged_gap(const DeviceLog& log) {
  std::uint64_t first = UINT64_MAX, last = 0;
  for (const CoreLog& core : log.cores)
    for (const RiscLog& risc : core.riscs) {
      if (risc.stamps.empty()) continue;
      first = std::min(first, risc.stamps.front().cycle);
      last = std::max(last, risc.stamps.back().cycle);
    }
  return last > first ? (last - first) / 400 : 0;
}

Node figures_table(std::string heading, const std::vector<Analysis>& analyses) {
  Node lines = Node::list();
  for (const auto& [what, f] : analyses)
    lines.push(texts({what, cat(f.count), figure_text(f.average), figure_text(f.median), cat(f.least), cat(f.most), figure_text(f.sum)}));
  return Node::list(
      {Node::string(std::move(heading)), texts({"cycles", "count", "average", "median", "least", "most", "sum"}), std::move(lines)});
}

Node page_data(std::string title, double clock_hz, Node lanes, Node rows, Node tables) {
  return Node::map({{"title", Node::string(std::move(title))},
                    {"clock_hz", Node::real(clock_hz)},
                    {"lanes", std::move(lanes)},
                    {"rows", std::move(rows)},
                    {"tables", std::move(tables)}});
}

constexpr std::array<std::string_view, 3> kCode = {"device_perf.html", "profiler.css", "profiler.js"};

void replace(std::string& text, std::string_view what, const std::string& by) {
  if (const std::size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
}

std::string data_js(const Node& data) { return cat("window.profile = ", serve::script_value(data), ";\n"); }

}  // namespace

io::Node device_page(const DeviceLog& log, const ZoneNames& zones, const std::vector<Analysis>& all) {
  Node lanes = Node::list(), rows = Node::list(), tables = Node::list();
  for (const std::string_view risc : kRiscs) lanes.push(Node::string(std::string(risc)));
  const auto zoned = riscs_with_zones(log, zones);
  for (const std::size_t risc : zoned) lanes.push(Node::string(cat(kRiscs[risc], " zones")));
  const std::uint64_t gap = merged_gap(log);
  for (const CoreLog& core : log.cores) rows.push(core_row(core, zones, zoned, gap));
  tables.push(figures_table("All cores", all));
  return page_data("Device Profiler Dashboard", log.clock_hz, std::move(lanes), std::move(rows), std::move(tables));
}

io::Node ops_page(const OpsReport& report) {
  Node rows = Node::list(), lines = Node::list();
  for (const OpCalls& op : report.ops) {
    Node bars = Node::list();
    for (const OpCall& call : op.calls) bars.push(bar(0, call.begin, call.end, cat("call ", call.number, ", ", call.attributes)));
    rows.push(Node::list({Node::string(op.code), std::move(bars)}));
    lines.push(texts(
        {op.code, cat(op.calls.size()), figure_text(op.kernel_ns), figure_text(op.kernel_ns / static_cast<double>(op.calls.size()))}));
  }
  Node tables = Node::list({Node::list({Node::string("Ops"), texts({"op code", "calls", "device kernel ns", "each"}), std::move(lines)})});
  return page_data("Ops Profiler Dashboard", 0, texts({"firmware"}), std::move(rows), std::move(tables));
}

Result<PageCode> read_page_code(Host& host) {
  PageCode out;
  for (const std::string_view name : kCode) {
    const std::string path = cat(host.share_dir, "/profiler/", name);
    if (!host.fs().exists(path)) return input_error("PF004", {path}, "is missing: the installation is incomplete");
    BUDA_ASSIGN(const auto bytes, host.fs().read(path));
    out.emplace(name, bytes.view());
  }
  return out;
}

std::string whole_page(const PageCode& code, const io::Node& data) {
  std::string out = code.at("device_perf.html");
  replace(out, "<link rel=\"stylesheet\" href=\"profiler.css\">", cat("<style>\n", code.at("profiler.css"), "</style>"));
  replace(out, "<script src=\"data.js\"></script>", cat("<script>\n", data_js(data), "</script>"));
  replace(out, "<script src=\"profiler.js\"></script>", cat("<script>\n", code.at("profiler.js"), "</script>"));
  return out;
}

std::string served_data(io::Node data, const std::string& download) {
  data.add("download", io::Node::string(download));
  return data_js(data);
}

}  // namespace buda::profiler
