// SPDX-License-Identifier: Apache-2.0
// Follows pipes backwards, to the tiles that a buffer receives. Internal to the checker.
//
// A pass of a pipe is one traversal of its list of blocks; it begins when the buffers of the producers have been filled again. Pass number
// w transfers of an op's output the tiles [w * window, (w + 1) * window) of each core, of a queue entry number w, and of what was read
// before the epoch the same tiles each time. The pass goes to output group w mod groups, where groups whose round is padding are not
// counted: they get as many tiles of padding, after the group before them. So the tiles that a kernel receives, in order, are those of all
// passes whose group it is in.
#pragma once

#include <buda/pipes/check/checked_epoch.hpp>
#include <buda/pipes/check/feeds.hpp>
#include <buda/pipes/check/findings.hpp>
#include <buda/pipes/check/owners.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::pipes {

// A tile, by its source.
struct TracedTile {
  Owner::Kind kind = Owner::Kind::none;
  const netlist::Op* op = nullptr;
  std::size_t queue = NetlistIndex::kNone;
  std::int64_t core = 0;
  std::int64_t number = 0;    // among all tiles that core or buffer sends in the epoch; of a prologue: of one input
  std::uint64_t address = 0;  // of padding
  Id block = 0;               // by which it came; does not count in comparisons

  std::string text(const netlist::Netlist& netlist) const;
  friend bool operator==(const TracedTile& a, const TracedTile& b) {
    return a.kind == b.kind && a.op == b.op && a.queue == b.queue && a.core == b.core && a.number == b.number && a.address == b.address;
  }
};

class Trace {
 public:
  // All must outlive it.
  Trace(const CheckedEpoch& epoch, const Owners& owners, const Feeds& feeds, Findings& findings)
      : epoch_(epoch), owners_(owners), feeds_(feeds), findings_(findings) {}

  // Appends what a buffer receives in one pass: nothing, or what one pipe transfers. False after an error: PC008 to PC011.
  bool add_pass(const Buffer& target, std::int64_t pass, std::vector<TracedTile>& out) { return add_pass(target, pass, out, 0); }

  // Passes after which the rounds begin anew, those before relays included.
  std::int64_t passes_of_a_cycle(const Buffer& target) const { return passes_of_a_cycle(target, 0); }

 private:
  bool add_pass(const Buffer& target, std::int64_t pass, std::vector<TracedTile>& out, int depth);
  bool add_block(const Pipe& pipe, Id block, std::int64_t pass, std::vector<TracedTile>& out, int depth);
  bool add_relayed(const Buffer& relay, std::int64_t offset, std::int64_t pass, std::vector<TracedTile>& out, int depth);
  bool add_padding(const Pipe& pipe, Id padding, std::vector<TracedTile>& out);
  std::int64_t passes_of_a_cycle(const Buffer& target, int depth) const;

  const CheckedEpoch& epoch_;
  const Owners& owners_;
  const Feeds& feeds_;
  Findings& findings_;
  // Passes of the relay of which several pipes took their parts last.
  Id shared_relay_ = 0;
  std::map<std::int64_t, std::vector<TracedTile>> shared_passes_;
};

}  // namespace buda::pipes
