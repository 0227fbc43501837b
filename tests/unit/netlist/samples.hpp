// SPDX-License-Identifier: Apache-2.0
// A small netlist, as text to be varied, and devices to check it against.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/netlist/text/parse.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace buda::netlist::samples {

// A matmul of [2 x 4] by [4 x 2] tiles, then exp, into a queue.
inline constexpr const char* kSmall = R"(devices:
  arch: wormhole_b0
queues:
  a: {type: queue, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2], df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x10000000]]}
  w: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [2, 1], ublock: [2, 2], df: Bfp8_b, target_device: 0, loc: dram, dram: [[1, 0x10000000]]}
  out: {type: queue, input: e, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2], df: Float16_b, target_device: 0, loc: host, host: [0x0]}
graphs:
  fwd:
    target_device: 0
    input_count: 2
    mm: {type: matmul, grid_loc: [0, 0], grid_size: [1, 1], inputs: [a, w], in_df: [Float16_b, Bfp8_b], acc_df: Float16_b, out_df: Float16_b, intermed_df: Float16_b, ublock_order: r, buf_size_mb: 2, math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [2, 2], attributes: {m_k: 2, u_kt: 2}}
    e: {type: exp, grid_loc: [0, 1], grid_size: [1, 1], inputs: [mm], in_df: [Float16_b], acc_df: Float16_b, out_df: Float16_b, intermed_df: Float16_b, ublock_order: r, buf_size_mb: 2, math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [2, 2]}
programs:
  - run:
      - param: [$p_loops]
      - var: {$c_inputs: 2, $zero: 0}
      - staticvar: [$l, $g]
      - loop: $p_loops
      - execute: {graph_name: fwd, queue_settings: {
          a: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, rd_ptr_global: $g},
          w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: $zero, wr_ptr_global: $zero}}}
      - varinst: [$l, incwrap, $c_inputs, 8]
      - varinst: [$g, incwrap, $c_inputs, 8]
      - endloop
)";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "not in the sample: " << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline Netlist parsed(const std::string& text, const std::string& arch = "") {
  auto result = parse_netlist(text, "net.yaml", {arch});
  if (result.ok()) return *result;
  for (const auto& d : result.failure().diagnostics())
    ADD_FAILURE() << d.loc.line << ":" << d.loc.column << ": " << d.message << " [" << d.code << "]";
  return {};
}

inline device::DeviceDescriptor wormhole() {
  device::DeviceDescriptor d;
  d.name = "wh";
  d.arch = "wormhole_b0";
  d.noc = {10, 12};
  d.workers = {{1, 2, 3, 4, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 7, 8, 9, 10, 11}};
  for (std::int32_t c = 0; c < 6; ++c) d.dram.channels.push_back({{{0, c}, {5, c}}, 0x1000000});
  d.dram.bank_bytes = 0x80000000;
  d.host = {4, 0x40000000, 0x800000000, {0x8000000, 0, 0, 0}};
  d.l1 = {1499136, 0x33000, 65408, 65536};
  d.tile_alignment = 32;
  d.queue_header_bytes = 32;
  d.dest = {8, 4};
  d.features.fp32_accumulate = true;
  d.features.int32_accumulate = true;
  d.features.l1_accumulate = true;
  d.features.stochastic_rounding = true;
  d.features.small_tiles = true;
  d.features.sfpu_on_pack = true;
  d.features.binary_transpose = true;
  d.features.dest_as_operand_1 = true;
  d.features.gradient_any_op = true;
  d.features.kernel_broadcast_blocks = true;
  d.features.op_to_op_across_graphs = true;
  d.features.dram_sub_channels = true;
  d.features.remote_input_queues = true;
  d.features.mixed_exponents_matmul = true;
  d.formats = netlist_formats();
  return d;
}

inline device::DeviceDescriptor grayskull() {
  device::DeviceDescriptor d = wormhole();
  d.name = "gs";
  d.arch = "grayskull";
  d.workers = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 2, 3, 4, 5, 7, 8, 9, 10, 11}};
  d.features = {};
  return d;
}

}  // namespace buda::netlist::samples
