// SPDX-License-Identifier: Apache-2.0
// A netlist for two chips with every kind of way between them.
#pragma once

#include "unit/pipes/built.hpp"

#include <string>

namespace buda::pipes {

// On chip 0 `f` with four cores; on chip 1 `g`, core by core, and `h`, from the ethernet_datacopy `e`. A queue of chip 0 keeps what `h`
// makes.
inline std::string two_chips() {
  const std::string four = "grid_size: [2, 2], t: 1, mblock: [1, 1], ublock: [1, 2]",
                    one = "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 2]";
  auto on_chip_1 = [](std::string queue) { return queue.replace(queue.find("target_device: 0"), 16, "target_device: 1"); };
  auto nop = [](const std::string& name, const std::string& input, const std::string& shape) {
    return op_text(name, "nop", input, 1,
                   "grid_loc: [0, " + std::string(name == "h" ? "4" : "0") + "], " + shape.substr(0, shape.find(", t:")),
                   shape.substr(shape.find("t: 1")) + ", ublock_order: r, buf_size_mb: 2");
  };
  return cat("devices: {arch: [wormhole_b0]}\nqueues:\n", queue_text("x", "HOST", four, 4, 0x20000000),
             on_chip_1(queue_text("y", "g", four, 4, 0x30000000)), queue_text("z", "h", one, 1, 0x40000000),
             "graphs:\n  a:\n    target_device: 0\n    input_count: 2\n", nop("f", "x", four),
             op_text("e", "ethernet_datacopy", "f", 1, "grid_size: [1, 1]",
                     "t: 1, mblock: [2, 2], ublock: [1, 2], ublock_order: r, buf_size_mb: 2",
                     "attributes: {ingress_channels: [8], egress_channels: [0], dest_device: 1}"),
             "  b:\n    target_device: 1\n    input_count: 2\n", nop("g", "f", four), nop("h", "e", one),
             "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n    - execute: {graph_name: b, queue_settings: {}}\n");
}

}  // namespace buda::pipes
