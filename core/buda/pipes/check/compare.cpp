// SPDX-License-Identifier: Apache-2.0
// Compares pass by pass.
#include <buda/pipes/check/compare.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/check/trace.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace buda::pipes {
namespace {

// The tiles of a buffer, one after the other.
class ReceivedTiles {
 public:
  ReceivedTiles(Trace& trace, const Buffer& target, std::int64_t passes) : trace_(trace), target_(target), passes_(passes) {}
  // False after an error. Otherwise there is a tile, or the pipes have ended.
  bool advance() {
    while (at_ == tiles_.size() && pass_ < passes_) {
      tiles_.clear();
      at_ = 0;
      if (!trace_.add_pass(target_, pass_++, tiles_)) return false;
    }
    return true;
  }
  bool ended() const { return at_ == tiles_.size(); }
  const TracedTile& tile() const { return tiles_[at_]; }
  void next() { ++at_; }

 private:
  Trace& trace_;
  const Buffer& target_;
  std::int64_t passes_, pass_ = 0;
  std::vector<TracedTile> tiles_;  // of the last pass
  std::size_t at_ = 0;
};

}  // namespace

bool compare(const Checked& checked, const std::string& what, const std::string& node, const Buffer& target, const Expected& e,
             std::int64_t input_count, Findings& findings) {
  const netlist::Netlist& netlist = checked.epoch.netlist();
  // Inputs until windows of producers and rounds of pipes are where they began.
  const std::int64_t cycle = checked.trace.passes_of_a_cycle(target);
  const std::int64_t inputs = std::min(e.inputs * (cycle / std::gcd(cycle, e.passes)), input_count);
  ReceivedTiles received(checked.trace, target, std::max<std::int64_t>(1, e.passes * inputs / e.inputs));
  for (std::int64_t input = 0; input < inputs; ++input)
    for (std::size_t i = 0; i < e.tiles.size(); ++i) {
      if (!received.advance()) return false;
      TracedTile wanted = e.tiles[i];
      if (wanted.kind != Owner::Kind::padding) wanted.number += input * e.per_input;
      const netlist::TileIndex& w = e.where[i];
      auto tile = [&] { return cat(what, ", tile ", i, " of input ", input, " (t=", w.t, " r=", w.r, " c=", w.c, ")"); };
      if (received.ended()) {
        findings.error("PC012", node, cat(tile(), ": the pipes end; ", wanted.text(netlist), " is missing"));
        return false;
      }
      if (!(received.tile() == wanted)) {
        findings.error("PC013", node,
                       cat(tile(), ": ", received.tile().text(netlist), " comes (block ", received.tile().block, "); it should be ",
                           wanted.text(netlist)));
        return false;
      }
      received.next();
      ++findings.counts.tiles;
    }
  if (!received.advance()) return false;
  if (!received.ended()) {
    findings.error("PC014", node, cat(what, ": more comes than is taken, first ", received.tile().text(netlist)));
    return false;
  }
  ++findings.counts.buffers;
  return true;
}

}  // namespace buda::pipes
