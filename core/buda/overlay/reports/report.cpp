// Adds up what streams take and move.
#include <buda/overlay/reports/report.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace buda::overlay {
namespace {

using device::NocCoord;
using Link = std::pair<NocCoord, NocCoord>;

// The links from one node to another. O(hops).
void add_route(std::int32_t noc, NocCoord at, NocCoord to, device::NocSize size, std::set<Link>& out) {
  std::int32_t step = noc == 0 ? 1 : -1;
  auto walk = [&](std::int32_t NocCoord::*axis, std::int32_t length) {
    while (at.*axis != to.*axis) {
      NocCoord next = at;
      next.*axis = (at.*axis + step + length) % length;
      out.insert({at, next});
      at = next;
    }
  };
  if (noc == 0) {
    walk(&NocCoord::x, size.x);
    walk(&NocCoord::y, size.y);
  } else {
    walk(&NocCoord::y, size.y);
    walk(&NocCoord::x, size.x);
  }
}

class Loads {
 public:
  Loads(const Blob& blob, const device::DeviceDescriptor& device) : blob_(blob), device_(device) {}

  void add(const Core& core, const Stream& s) {
    std::vector<std::uint64_t> messages(std::max<std::size_t>(1, s.destinations.size()), 0);
    for_each(s.phases, [&](const PhaseRun::Tuple& t) {
      Phase p = to_phase(t);
      if (static_cast<std::size_t>(p.destination) < messages.size())
        messages[static_cast<std::size_t>(p.destination)] += static_cast<std::uint64_t>(p.messages * s.iterations);
    });
    for (std::size_t d = 0; d < s.destinations.size(); ++d) {
      std::set<Link> links;
      const Core& to = blob_.cores[static_cast<std::size_t>(s.destinations[d].first.core)];
      if (s.pcie) {
        add_pcie(core, s, to, messages[d] * bytes(s));
        continue;
      }
      if (to.chip != core.chip) {
        CableLoad& cable = cables_[{core.chip, core.ethernet.value_or(-1), to.chip, to.ethernet.value_or(-1)}];
        ++cable.streams;
        cable.bytes += messages[d] * bytes(s);
        continue;
      }
      for (std::int32_t c : blob_.cores_of(s.destinations[d]))
        add_route(s.noc_out, core.noc, blob_.cores[static_cast<std::size_t>(c)].noc, device_.noc, links);
      load(core.chip, s.noc_out, links, messages[d] * bytes(s));
    }
    if (s.read) add_read(core, s);
    if (s.write) {
      const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
      std::uint64_t moved = static_cast<std::uint64_t>(s.write->after_epoch ? s.write->chunk_tiles : s.messages()) * bytes(s);
      (s.write->after_epoch ? channel(d).after : channel(d).written) += moved;
      connect(core.chip, s.noc_out, core.noc, d.port, moved);
    }
  }

  std::vector<LinkLoad> links() const {
    std::vector<LinkLoad> out;
    for (const auto& [key, n] : links_) out.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), n});
    std::stable_sort(out.begin(), out.end(), [](const LinkLoad& a, const LinkLoad& b) { return a.bytes > b.bytes; });
    return out;
  }

  std::vector<ChannelLoad> channels() const {
    std::vector<ChannelLoad> out;
    for (const auto& [key, load] : channels_) out.push_back(load);
    return out;
  }

  std::vector<CableLoad> cables() const {
    std::vector<CableLoad> out;
    for (const auto& [link, load] : cables_) out.push_back({link, load.streams, load.bytes});
    return out;
  }

  std::vector<PcieLoad> pcie() const {
    std::vector<PcieLoad> out;
    for (const auto& [chips, load] : pcie_) out.push_back(load);
    return out;
  }

 private:
  // To the port, and from that of the other chip to the core there.
  void add_pcie(const Core& core, const Stream& s, const Core& to, std::uint64_t moved) {
    PcieLoad& load = pcie_[{core.chip, to.chip}];
    load.chip = core.chip;
    load.to_chip = to.chip;
    ++load.streams;
    load.bytes += moved;
    connect(core.chip, s.noc_out, core.noc, s.pcie->port, moved);
    connect(to.chip, 0, s.pcie->port, to.noc, moved);
  }

  static std::uint64_t bytes(const Stream& s) { return static_cast<std::uint64_t>(s.message_bytes); }

  ChannelLoad& channel(const DramBuffer& d) {
    ChannelLoad& c = channels_[{d.chip, d.host, d.channel}];
    c.chip = d.chip;
    c.host = d.host;
    c.channel = d.channel;
    return c;
  }

  void load(std::int32_t chip, std::int32_t noc, const std::set<Link>& links, std::uint64_t n) {
    for (const Link& l : links) links_[{chip, noc, l.first, l.second}] += n;
  }

  void connect(std::int32_t chip, std::int32_t noc, NocCoord from, NocCoord to, std::uint64_t n) {
    std::set<Link> links;
    add_route(noc, from, to, device_.noc, links);
    load(chip, noc, links, n);
  }

  void add_read(const Core& core, const Stream& s) {
    std::vector<std::uint64_t> tiles(s.read->buffers.size(), 0);
    std::uint64_t all = 0;
    for_each(s.read->blocks, [&](const ReadRun::Tuple& t) {
      tiles[static_cast<std::size_t>(t[0])] += static_cast<std::uint64_t>(s.read->block_tiles);
      all += static_cast<std::uint64_t>(s.read->block_tiles);
    });
    std::uint64_t passes = s.read->before_epoch || all == 0 ? 1 : static_cast<std::uint64_t>(s.messages()) / all;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.read->buffers[i].dram)];
      std::uint64_t moved = tiles[i] * passes * bytes(s);
      (s.read->before_epoch ? channel(d).before : channel(d).read) += moved;
      connect(core.chip, s.noc_in, d.port, core.noc, moved);
    }
  }

  const Blob& blob_;
  const device::DeviceDescriptor& device_;
  std::map<std::tuple<std::int32_t, std::int32_t, NocCoord, NocCoord>, std::uint64_t> links_;
  std::map<std::tuple<std::int32_t, bool, std::int32_t>, ChannelLoad> channels_;
  std::map<device::EthLink, CableLoad> cables_;
  std::map<std::pair<std::int32_t, std::int32_t>, PcieLoad> pcie_;  // by both chips
};

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
  Loads loads(blob, device);
  std::vector<CoreUsage> usage = usage_of(blob, device, eth_core);
  for (std::size_t i = 0; i < blob.cores.size(); ++i) {
    const Core& c = blob.cores[i];
    report.cores.push_back(report_core(c, std::move(usage[i])));
    for (const Stream& s : c.streams) loads.add(c, s);
  }
  report.links = loads.links();
  report.channels = loads.channels();
  report.cables = loads.cables();
  report.pcie = loads.pcie();
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
  if (!report.cables.empty()) out += "\nEthernet, bytes per cable and direction\n";
  for (const CableLoad& c : report.cables)
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
  std::string out = cat("{\"schema\": \"buda.pipegen-report/1\",\n\"device\": ", io::json_line(text(blob.device)), ",\n\"cores\": [");
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
                    {"bytes", number(l.bytes)}}));
  out += "],\n\"cables\": [";
  first = true;
  for (const CableLoad& c : report.cables)
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
