// SPDX-License-Identifier: Apache-2.0
// Netlists whose receivers take turns: ts of the producer lie side by side, or one above the other, in the consumer.
#pragma once

#include "unit/pipes/interchip/ring.hpp"

#include <string>

namespace buda::pipes {

struct Turns {
  int parts = 2;      // ts that are stacked
  int producers = 1;  // cores, one above the other where stacks are side by side, and the other way round
  int takers = 2;     // cores along the stack; a divisor of parts and padded
  bool side_by_side = true;
  int padded = 0;  // further parts that are padding
  std::string taker = "nop";
  int chip = 1;  // of the consumer; of a copy that it copies to
};

// `f` on chip 0 hands out one t at a time; `n` takes it, in as many rows or columns of cores as `f` has.
inline std::string in_turns(const Turns& c) {
  const int ts = 2 * c.parts, each = (c.parts + c.padded) / c.takers;
  auto pair = [&](int along, int across) {
    return c.side_by_side ? cat('[', across, ", ", along, ']') : cat('[', along, ", ", across, ']');
  };
  const char* order = c.side_by_side ? ", ublock_order: c" : ", ublock_order: r";
  const std::string made = cat("t: ", ts, ", mblock: [1, 1], ublock: [1, 2]"), grid = cat("grid_size: ", pair(1, c.producers)),
                    taken = cat("t: 2, mblock: ", pair(each, 1), ", ublock: [1, 2]", order),
                    takers = cat("grid_size: ", pair(c.takers, c.producers));
  const bool copies = c.taker == "ethernet_datacopy";
  std::string more = cat("input_0_tms: [", c.side_by_side ? "hstack: " : "vstack: ", c.parts, ']');
  if (c.padded > 0) {
    more += cat(", input_0_pad: {rt: ", c.side_by_side ? 0 : c.padded, ", ct: ", c.side_by_side ? 2 * c.padded : 0, ", pad_value: 1.5}");
  }
  if (copies) more += cat(", attributes: {dest_device: ", c.chip, '}');
  const std::string f = op_text("f", "nop", "q", 1, cat("grid_loc: [0, 0], ", grid), made + ", ublock_order: r, buf_size_mb: 2"),
                    n = op_text("n", c.taker, "f", 1, copies ? takers : cat("grid_loc: [4, 0], ", takers), taken + ", buf_size_mb: 2",
                                more);
  const std::string head =
      cat("devices: {arch: [wormhole_b0, grayskull]}\nqueues:\n", queue_text("q", "HOST", cat(grid, ", ", made), c.producers, 0x20000000),
          on_chip(c.chip, queue_text("out", "n", cat(takers, ", ", taken), c.takers * c.producers, 0x30000000)),
          "graphs:\n  a:\n    target_device: 0\n    input_count: 3\n", f);
  if (copies || c.chip == 0) return cat(head, n, "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n");
  return cat(head, "  b:\n    target_device: ", c.chip, "\n    input_count: 3\n", n,
             "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n    - execute: {graph_name: b, queue_settings: {}}\n");
}

// Who takes them and where, and what there is on the way.
struct TurnsAt {
  const char* device = "n300";
  const char* taker = "nop";
  int chip = 1;
  bool one_stream = false;  // over one link, so that pipes have to share it
};
inline std::vector<TurnsAt> everywhere() {
  return {{"n300", "nop", 0}, {"n300", "nop", 1}, {"n300", "nop", 1, true}, {"n300", "ethernet_datacopy", 1}, {"grayskull", "nop", 1}};
}

// Every kind of turns there.
inline std::vector<Turns> all_turns(const TurnsAt& at) {
  std::vector<Turns> out;
  for (int producers : {1, 2})
    for (bool side_by_side : {true, false})
      for (auto [parts, takers, padded] :
           {std::tuple{2, 2, 0}, std::tuple{4, 2, 0}, std::tuple{3, 2, 1}, std::tuple{4, 2, 2}, std::tuple{3, 3, 0}})
        out.push_back({parts, producers, takers, side_by_side, padded, at.taker, at.chip});
  return out;
}

inline Built built_at(const TurnsAt& at, const Turns& turns) {
  device::Cluster cluster = shipped_cluster(shipped(at.device));
  if (at.one_stream) {
    cluster.links.resize(1);
    cluster.eth_core.link_streams.resize(1);
  }
  return Built(in_turns(turns), shipped(at.device), std::move(cluster));
}

}  // namespace buda::pipes
