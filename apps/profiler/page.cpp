// Data for the script of the page.
#include "apps/profiler/page.hpp"

#include "apps/profiler/device_stats.hpp"

#include <buda/base/text.hpp>
#include <buda/serve/service.hpp>

#include <algorithm>
#include <array>

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

void add_bar(Node& bars, std::int64_t lane, std::span<const Stamp> run, Marker begin, Marker end, std::string text) {
  const Stamp *from = find_marker(run, begin), *to = find_marker(run, end);
  if (from != nullptr && to != nullptr) bars.push(bar(lane, from->cycle, to->cycle, std::move(text)));
}

Node core_row(const CoreLog& core) {
  Node bars = Node::list();
  // All RISCs of a core are of one firmware.
  for (std::size_t r = 0; r < core.riscs[0].starts.size(); ++r)
    add_bar(bars, -1, core.riscs[0].run(r), kFirmwareStart, kFirmwareEnd, cat("firmware, run ", r));
  for (std::size_t risc = 0; risc < kRiscs.size(); ++risc)
    for (std::size_t r = 0; r < core.riscs[risc].starts.size(); ++r)
      add_bar(bars, static_cast<std::int64_t>(risc), core.riscs[risc].run(r), kKernelStart, kKernelEnd,
              cat(kRiscs[risc], " kernel, run ", r));
  return Node::list({Node::string(cat("chip ", core.chip, " core ", core.x, "-", core.y)), std::move(bars)});
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

io::Node device_page(const DeviceLog& log) {
  Node lanes = Node::list(), rows = Node::list(), tables = Node::list();
  for (const std::string_view risc : kRiscs) lanes.push(Node::string(std::string(risc)));
  for (const CoreLog& core : log.cores) rows.push(core_row(core));
  tables.push(figures_table("All cores", analyses_of(log)));
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
