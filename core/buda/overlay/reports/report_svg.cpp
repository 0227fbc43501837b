// SPDX-License-Identifier: Apache-2.0
// Draws a report: the network of each chip with its cores, how full their L1 is, and how much every link and DRAM channel carries.
#include <buda/overlay/reports/report.hpp>

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>
#include <buda/io/svg.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::overlay {
namespace {

using device::NocCoord;

// Pixels.
constexpr std::int32_t kPitchX = 104, kPitchY = 78, kCellX = 84, kCellY = 56, kTop = 48, kLeft = 16;
constexpr std::int32_t kLane = 5;  // between the lines of the two networks
constexpr double kWidest = 7;

constexpr std::string_view kColours[] = {"#9ecae1", "#a1d99b", "#fdd0a2", "#dadaeb", "#fcbba1", "#c7e9c0",
                                         "#bcbddc", "#fee391", "#d9d9d9", "#b5d8d3", "#e7c6dd", "#c9d7a7"};

class Drawing {
 public:
  Drawing(const Report& report, const Blob& blob, const device::DeviceDescriptor& device) : report_(report), blob_(blob), device_(device) {}

  std::string text() {
    std::set<std::int32_t> chips;
    for (const CoreReport& c : report_.cores) chips.insert(c.chip);
    for (const CoreReport& c : report_.cores) colours_.try_emplace(c.op, colours_.size());
    for (const LinkLoad& l : report_.links) most_ = std::max(most_, l.bytes);
    const std::int32_t width = 2 * kLeft + device_.noc.x * kPitchX, height = kTop + device_.noc.y * kPitchY;
    std::int32_t top = 0;
    for (std::int32_t chip : chips) {
      top_ = top + kTop;
      add_text(kLeft, top + 20, 14,
               cat("Stream programs of ", join(blob_.graphs, ", "), " on ", blob_.device, chips.size() > 1 ? cat(", chip ", chip) : ""));
      add_text(kLeft, top + 36, 10,
               cat("bars: L1 in use; lines: bytes in the epoch, NoC 0 dark, NoC 1 light, the widest ", most_, " bytes"));
      draw_links(chip);
      draw_memory(chip);
      draw_pcie(chip);
      for (const CoreReport& c : report_.cores)
        if (c.chip == chip) draw_core(c);
      top += height;
    }
    return io::svg_page(width, height * static_cast<std::int32_t>(chips.size()), out_);
  }

 private:
  std::int32_t x_of(NocCoord c) const { return kLeft + c.x * kPitchX; }
  std::int32_t y_of(NocCoord c) const { return top_ + c.y * kPitchY; }

  void add_text(std::int32_t x, std::int32_t y, int size, const std::string& content) { out_ += io::svg_text(x, y, size, content); }

  void add_box(std::int32_t x, std::int32_t y, std::int32_t w, std::int32_t h, std::string_view fill, const std::string& title) {
    out_ += io::svg_element("rect", {{"x", x}, {"y", y}, {"width", w}, {"height", h}, {"fill", fill}, {"stroke", "#666"}},
                            io::svg_title(title));
  }

  // Links round the edge of the grid end where they leave the picture.
  void draw_links(std::int32_t chip) {
    for (const LinkLoad& l : report_.links) {
      if (l.chip != chip || l.bytes == 0) continue;
      std::int32_t dx = l.to.x - l.from.x, dy = l.to.y - l.from.y;
      if (dx > 1) dx = -1;
      if (dx < -1) dx = 1;
      if (dy > 1) dy = -1;
      if (dy < -1) dy = 1;
      const std::int32_t lane = l.noc == 0 ? -kLane : kLane;
      const std::int32_t x = x_of(l.from) + kCellX / 2 + (dy != 0 ? lane : 0), y = y_of(l.from) + kCellY / 2 + (dx != 0 ? lane : 0);
      const double wide = 1 + kWidest * static_cast<double>(l.bytes) / static_cast<double>(std::max<std::uint64_t>(most_, 1));
      out_ += io::svg_element("line",
                              {{"x1", x},
                               {"y1", y},
                               {"x2", x + dx * kPitchX},
                               {"y2", y + dy * kPitchY},
                               {"stroke", l.noc == 0 ? "#34495e" : "#e08e0b"},
                               {"stroke-width", wide}},
                              io::svg_title(cat("NoC ", l.noc, ", ", l.from.text(), " to ", l.to.text(), ": ", l.bytes, " bytes")));
    }
  }

  void draw_memory(std::int32_t chip) {
    for (const ChannelLoad& c : report_.channels) {
      if (c.chip != chip) continue;
      std::vector<NocCoord> at;
      if (c.host && device_.pcie) at = {*device_.pcie};
      if (!c.host && static_cast<std::size_t>(c.channel) < device_.dram.channels.size())
        at = device_.dram.channels[static_cast<std::size_t>(c.channel)].ports;
      std::string name = cat(c.host ? "host " : "DRAM ", c.channel);
      for (NocCoord p : at) {
        add_box(x_of(p), y_of(p), kCellX, kCellY, "#ffffff",
                cat(name, ": read ", c.read, ", written ", c.written, ", before the epoch ", c.before, ", after it ", c.after, " bytes"));
        add_text(x_of(p) + 4, y_of(p) + 14, 10, name);
        add_text(x_of(p) + 4, y_of(p) + 28, 9, cat("in ", bytes_text(c.read + c.before)));
        add_text(x_of(p) + 4, y_of(p) + 42, 9, cat("out ", bytes_text(c.written + c.after)));
      }
    }
  }

  // What goes to the next chips, and comes from them, at the port; a place lower where host memory has that one.
  void draw_pcie(std::int32_t chip) {
    std::uint64_t sent = 0, received = 0;
    std::string title, others;
    for (const PcieLoad& p : report_.pcie) {
      if (p.chip != chip && p.to_chip != chip) continue;
      const std::int32_t other = p.chip == chip ? p.to_chip : p.chip;
      (p.chip == chip ? sent : received) += p.bytes;
      title += cat("\n", p.chip == chip ? "to" : "from", " chip ", other, ": ", p.bytes, " bytes in ", p.streams, " streams");
      if (const std::string name = cat(' ', other); others.find(name) == std::string::npos) others += name;
    }
    if (title.empty() || !device_.pcie) return;
    const bool has_host =
        std::any_of(report_.channels.begin(), report_.channels.end(), [&](const ChannelLoad& c) { return c.chip == chip && c.host; });
    const std::int32_t x = x_of(*device_.pcie), y = y_of(*device_.pcie) + (has_host ? kPitchY : 0);
    add_box(x, y, kCellX, kCellY, "#ffffff", cat("PCIe (", device_.pcie->text(), ')', title));
    add_text(x + 4, y + 14, 10, cat("PCIe to chip", others));
    add_text(x + 4, y + 28, 9, cat("sent ", bytes_text(sent)));
    add_text(x + 4, y + 42, 9, cat("received ", bytes_text(received)));
  }

  void draw_core(const CoreReport& c) {
    const std::int32_t x = x_of(c.noc), y = y_of(c.noc);
    if (c.ethernet) return draw_ethernet(c);
    std::string title = cat(c.op.empty() ? std::string("no op") : c.op, ", core [", c.core.row, ", ", c.core.col, "] (", c.noc.text(),
                            ")\nL1 ", c.l1_bytes, " of ", c.l1_available, " bytes; ", c.streams, " streams; ", c.phases, " of ",
                            c.phases_available, " phases; ", c.messages_in, " tiles in, ", c.messages_out, " out");
    for (const L1Piece& p : c.l1) title += cat('\n', p.address, ": ", p.bytes, " bytes, ", p.what);
    add_box(x, y, kCellX, kCellY, kColours[colours_.at(c.op) % std::size(kColours)], title);
    add_text(x + 4, y + 14, 10, shortened(c.op, 15, "…"));
    add_text(x + 4, y + 28, 9, cat(c.streams, " streams"));
    add_text(x + 4, y + 40, 9, cat(c.phases, " phases"));
    const double used = c.l1_available == 0 ? 0 : static_cast<double>(c.l1_bytes) / static_cast<double>(c.l1_available);
    add_box(x + 4, y + kCellY - 11, kCellX - 8, 7, "#ffffff", title);
    out_ += io::svg_element("rect", {{"x", x + 4},
                                     {"y", y + kCellY - 11},
                                     {"width", std::min(used, 1.0) * (kCellX - 8)},
                                     {"height", 7},
                                     {"fill", used > 0.9 ? "#c0392b" : "#34495e"}});
  }

  // Bytes sent and received over the core's Ethernet link.
  void draw_ethernet(const CoreReport& c) {
    std::uint64_t sent = 0, received = 0;
    std::string title = cat("ethernet channel ", *c.ethernet, " (", c.noc.text(), ")\nL1 ", c.l1_bytes, " of ", c.l1_available, " bytes; ",
                            c.streams, " streams; ", c.phases, " of ", c.phases_available, " phases"),
                other;
    for (const EthernetLoad& l : report_.ethernet) {
      const bool leaves = l.link.chip == c.chip && l.link.channel == *c.ethernet;
      if (!leaves && !(l.link.to_chip == c.chip && l.link.to_channel == *c.ethernet)) continue;
      (leaves ? sent : received) += l.bytes;
      other = cat("chip ", leaves ? l.link.to_chip : l.link.chip);
      title += cat('\n', leaves ? "to" : "from", " chip ", leaves ? l.link.to_chip : l.link.chip, ", channel ",
                   leaves ? l.link.to_channel : l.link.channel, ": ", l.bytes, " bytes in ", l.streams, " streams");
    }
    add_box(x_of(c.noc), y_of(c.noc), kCellX, kCellY, "#f7f7f7", title);
    add_text(x_of(c.noc) + 4, y_of(c.noc) + 14, 10, cat("eth ", *c.ethernet, other.empty() ? "" : " to ", other));
    add_text(x_of(c.noc) + 4, y_of(c.noc) + 28, 9, cat("sent ", bytes_text(sent)));
    add_text(x_of(c.noc) + 4, y_of(c.noc) + 42, 9, cat("received ", bytes_text(received)));
  }

  const Report& report_;
  const Blob& blob_;
  const device::DeviceDescriptor& device_;
  std::map<std::string, std::size_t> colours_;  // by op, in order of the cores
  std::uint64_t most_ = 0;
  std::int32_t top_ = 0;
  std::string out_;
};

}  // namespace

std::string report_svg(const Report& report, const Blob& blob, const device::DeviceDescriptor& device) {
  return Drawing(report, blob, device).text();
}

}  // namespace buda::overlay
