// SPDX-License-Identifier: Apache-2.0
// Reports as text and JSON.
#include <buda/overlay/reports/report.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <utility>

namespace buda::overlay {
namespace {

CoreReport report_core(const Core& c, CoreUsage usage) {
  CoreReport r;
  static_cast<CoreUsage&>(r) = std::move(usage);
  r.noc = c.noc;
  for (const Stream& s : c.streams) {
    if (!s.sources.empty() || s.read) r.messages_in += s.messages();
    if (!s.destinations.empty() || s.write) r.messages_out += s.messages();
  }
  return r;
}

std::string place(const CoreReport& c) {
  return cat("chip ", c.chip, c.ethernet ? cat(" ethernet channel ", *c.ethernet) : cat(" core [", c.core.row, ", ", c.core.col, ']'));
}

std::string in_columns(std::string text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text + ' ';
}

}  // namespace

Report make_report(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core) {
  Report report;
  static_cast<Traffic&>(report) = traffic_of(blob, device);
  std::vector<CoreUsage> usage = usage_of(blob, device, eth_core);
  for (std::size_t i = 0; i < blob.cores.size(); ++i) report.cores.push_back(report_core(blob.cores[i], std::move(usage[i])));
  return report;
}

std::string report_text(const Report& report, const Blob& blob, const device::DeviceDescriptor& device) {
  constexpr std::size_t kLinks = 20;
  std::string out = cat("Stream programs of ", join(blob.graphs, ", "), " on ", blob.device, "\n\nCores\n");
  for (const CoreReport& c : report.cores) {
    out += cat("  ", place(c), " (", c.noc.text(), ") ", c.op, "\n    L1 ", c.l1_bytes, " of ", c.l1_available, " bytes; ", c.streams,
               " of ", c.streams_available, " streams; ", c.phases, " of ", c.phases_available, " phases; ", c.messages_in, " tiles in, ",
               c.messages_out, " out\n");
    for (const L1Piece& p : c.l1) out += cat("      ", in_columns(hex_text(p.address), 10), in_columns(cat(p.bytes), 9), p.what, '\n');
  }
  out += "\nDRAM and host memory, bytes per channel\n";
  for (const ChannelLoad& c : report.channels)
    out += cat("  ",
               in_columns(cat(c.host ? "host" : "DRAM", ' ', c.channel, device.chips > 1 ? cat(" of chip ", c.chip) : std::string()), 16),
               "read ", c.read, ", written ", c.written, ", before the epoch ", c.before, ", after it ", c.after, '\n');
  if (!report.ethernet.empty()) out += "\nEthernet, bytes per link and direction\n";
  for (const EthernetLoad& c : report.ethernet)
    out += cat(
        "  ",
        in_columns(cat("chip ", c.link.chip, " channel ", c.link.channel, " -> chip ", c.link.to_chip, " channel ", c.link.to_channel), 38),
        c.bytes, " bytes in ", c.streams, c.streams == 1 ? " stream\n" : " streams\n");
  if (!report.pcie.empty()) out += "\nPCIe, bytes per direction\n";
  for (const PcieLoad& p : report.pcie)
    out += cat("  ", in_columns(cat("chip ", p.chip, " -> chip ", p.to_chip), 38), p.bytes, " bytes in ", p.streams,
               p.streams == 1 ? " stream\n" : " streams\n");
  out += cat("\nThe ", std::min(kLinks, report.links.size()), " of ", report.links.size(), " links of the networks that carry most\n");
  for (std::size_t i = 0; i < report.links.size() && i < kLinks; ++i) {
    const LinkLoad& l = report.links[i];
    out += cat("  NoC ", l.noc, "  ", in_columns(cat(l.from.text(), " -> ", l.to.text()), 16), l.bytes, " bytes\n");
  }
  return out;
}

std::string report_json(const Report& report, const Blob& blob) {
  using io::Node;
  auto number = [](auto v) { return Node::integer(static_cast<std::int64_t>(v)); };
  auto text = [](std::string v) { return Node::string(std::move(v)); };
  std::string out = cat("{\"schema\": \"buda.pipegen-report/2\",\n\"device\": ", io::json_line(text(blob.device)), ",\n\"cores\": [");
  bool first = true;
  auto line = [&](const Node& node) {
    out += cat(first ? "\n" : ",\n", io::json_line(node));
    first = false;
  };
  for (const CoreReport& c : report.cores) {
    Node l1 = Node::list();
    for (const L1Piece& p : c.l1) l1.push(Node::map({{"address", number(p.address)}, {"bytes", number(p.bytes)}, {"what", text(p.what)}}));
    line(Node::map({{"chip", number(c.chip)},
                    {"core", Node::list({number(c.core.row), number(c.core.col)})},
                    {"ethernet", c.ethernet ? number(*c.ethernet) : Node::null()},
                    {"noc", text(c.noc.text())},
                    {"op", text(c.op)},
                    {"l1_used", number(c.l1_bytes)},
                    {"l1_available", number(c.l1_available)},
                    {"streams", number(c.streams)},
                    {"phases", number(c.phases)},
                    {"phases_available", number(c.phases_available)},
                    {"messages_in", number(c.messages_in)},
                    {"messages_out", number(c.messages_out)},
                    {"l1", std::move(l1)}}));
  }
  out += "],\n\"channels\": [";
  first = true;
  for (const ChannelLoad& c : report.channels)
    line(Node::map({{"chip", number(c.chip)},
                    {"host", Node::boolean(c.host)},
                    {"channel", number(c.channel)},
                    {"read", number(c.read)},
                    {"written", number(c.written)},
                    {"before", number(c.before)},
                    {"after", number(c.after)}}));
  out += "],\n\"links\": [";
  first = true;
  for (const LinkLoad& l : report.links)
    line(Node::map({{"chip", number(l.chip)},
                    {"noc", number(l.noc)},
                    {"from", text(l.from.text())},
                    {"to", text(l.to.text())},
                    {"bytes", number(l.bytes)},
                    {"before", number(l.before)}}));
  out += "],\n\"ethernet\": [";
  first = true;
  for (const EthernetLoad& c : report.ethernet)
    line(Node::map({{"chip", number(c.link.chip)},
                    {"channel", number(c.link.channel)},
                    {"to_chip", number(c.link.to_chip)},
                    {"to_channel", number(c.link.to_channel)},
                    {"streams", number(c.streams)},
                    {"bytes", number(c.bytes)}}));
  out += "],\n\"pcie\": [";
  first = true;
  for (const PcieLoad& p : report.pcie)
    line(Node::map({{"chip", number(p.chip)}, {"to_chip", number(p.to_chip)}, {"streams", number(p.streams)}, {"bytes", number(p.bytes)}}));
  return out + "]}\n";
}

}  // namespace buda::overlay
