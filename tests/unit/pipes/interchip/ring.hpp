// SPDX-License-Identifier: Apache-2.0
// A netlist for three chips in a ring, which exchange data over PCIe in every way.
#pragma once

#include "unit/pipes/built.hpp"

#include <string>
#include <utility>

namespace buda::pipes {

inline std::string on_chip(int chip, std::string text) {
  return text.replace(text.find("target_device: 0"), 16, cat("target_device: ", chip));
}

// On chip 0 `f` with four cores; on chip 1 `g`, core by core, `m`, a matmul whose rows take what two cores have, and `t`, which puts ts of
// `f` side by side, so that its cores take turns; on chip 2 `h`, from `g`, and from a queue of chip 0 that chip 2 reads over PCIe. A queue
// of chip 1 keeps what `h` makes.
inline std::string ring_of_chips() {
  const std::string four = "grid_size: [2, 2], t: 2, mblock: [1, 1], ublock: [1, 2]", more = ", ublock_order: r, buf_size_mb: 2",
                    wide = "grid_size: [1, 2], t: 1, mblock: [2, 2], ublock: [1, 2]";
  auto op = [&](const std::string& name, const std::string& type, const std::string& inputs, int count, const std::string& at,
                const std::string& shape, const std::string& tail = "") {
    return op_text(name, type, inputs, count, cat("grid_loc: ", at, ", ", shape.substr(0, shape.find(", t:"))),
                   shape.substr(shape.find("t: ", shape.find("], "))) + more, tail);
  };
  return cat("devices: {arch: [grayskull]}\nqueues:\n", queue_text("x", "HOST", four, 4, 0x20000000),
             "  z: {type: queue, entries: 4, input: HOST, grid_size: [1, 1], t: 2, mblock: [1, 1], ublock: [2, 4], df: Float16_b, "
             "target_device: 0, loc: dram, dram: [[0, 0x30000000]]}\n",
             on_chip(1, queue_text("w", "HOST", "grid_size: [1, 1], t: 2, mblock: [4, 2], ublock: [1, 2]", 1, 0x20000000)),
             on_chip(1, queue_text("ym", "m", four, 4, 0x24000000)), on_chip(1, queue_text("yt", "t", wide, 2, 0x28000000)),
             "  yh: {type: queue, entries: 4, input: h, ", four,
             ", df: Float16_b, target_device: 1, loc: dram, dram: [[0, 0x30000000], [0, 0x31000000], [0, 0x32000000], [0, 0x33000000]]}\n",
             "graphs:\n  a:\n    target_device: 0\n    input_count: 4\n", op("f", "nop", "x", 1, "[0, 0]", four),
             "  b:\n    target_device: 1\n    input_count: 4\n", op("g", "nop", "f", 1, "[0, 0]", four),
             op("m", "matmul", "f, w", 2, "[4, 0]", four, "attributes: {m_k: 4, u_kt: 1}"),
             op("t", "nop", "f", 1, "[8, 0]", wide, "input_0_tms: [hstack: 2]"), "  c:\n    target_device: 2\n    input_count: 4\n",
             op("h", "add", "g, z", 2, "[5, 5]", four),
             "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n    - execute: {graph_name: b, queue_settings: {}}\n"
             "    - execute: {graph_name: c, queue_settings: {}}\n");
}

}  // namespace buda::pipes
