// SPDX-License-Identifier: Apache-2.0
// A netlist text with everything that becomes of it, for tests.
#pragma once

#include "unit/device/source_devices.hpp"

#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/load.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/check/check.hpp>
#include <buda/pipes/interchip/ethernet_links.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::pipes {

using device::shipped;
using device::source_host;

inline const device::Cluster& shipped_cluster(const device::DeviceDescriptor& device) {
  static std::map<std::string, device::Cluster> known;
  auto it = known.find(device.name);
  if (it != known.end()) return it->second;
  auto loaded = device::load_cluster(source_host(), device);
  EXPECT_TRUE(loaded.ok()) << device.name;
  return known[device.name] = loaded.ok() ? *loaded : device::Cluster{};
}

inline std::string messages(const Failure& failure) {
  std::string out;
  for (const auto& d : failure.diagnostics()) out += d.message + " [" + d.code + "]\n";
  return out;
}

// The first epoch of a netlist. `problem` has the messages when it could not be built.
struct Built {
  explicit Built(const std::string& text, const std::string& device_name = "wormhole_b0") : Built(text, device_name, {}) {}
  // With fewer streams on each link than there are.
  Built(const std::string& text, const std::string& device_name, std::optional<std::size_t> link_streams)
      : device(&shipped(device_name)), joined(shipped_cluster(*device)) {
    if (link_streams) joined.eth_core.link_streams.resize(*link_streams);
    start(text);
  }
  // With these links. The device has to live as long as what is built.
  Built(const std::string& text, const device::DeviceDescriptor& on, device::Cluster cluster) : device(&on), joined(std::move(cluster)) {
    start(text);
  }
  bool ok() const { return problem.empty(); }
  const device::Cluster& cluster() const { return joined; }
  // What the checker says; empty when all is right.
  std::string check(const PipeGraph& g) const {
    auto result = check_pipes(*index, *device, epochs.front(), padding, g, cluster());
    return result ? "" : messages(result.failure());
  }
  std::string check() const { return check(graph); }

  // The buffer of an op's core and operand.
  const Buffer* input(const std::string& op, GridCoord worker, std::int32_t operand) const {
    for (const Buffer& b : graph.buffers)
      if (b.type == BufferType::unpacker && b.op == op && b.core == worker && b.operand == operand) return &b;
    return nullptr;
  }
  // The first buffer of that kind of an op or queue.
  const Buffer* buffer(const std::string& op, BufferType type) const {
    for (const Buffer& b : graph.buffers)
      if (b.op == op && b.type == type) return &b;
    return nullptr;
  }
  // The pipes that lead to a buffer.
  std::vector<const Pipe*> feeding(const Buffer* b) const {
    std::vector<const Pipe*> out;
    for (const Pipe& p : graph.pipes)
      for (const auto& group : p.outputs)
        for (Id id : group)
          if (b != nullptr && id == b->id) out.push_back(&p);
    return out;
  }

  const device::DeviceDescriptor* device;
  device::Cluster joined;  // with the links that the netlist may count on
  std::unique_ptr<netlist::Netlist> netlist;
  std::unique_ptr<NetlistIndex> index;
  std::vector<Epoch> epochs;
  PaddingTable padding;
  PipeGraph graph;
  std::string problem;
  std::vector<Diagnostic> diagnostics;

 private:
  void start(const std::string& text) {
    if (auto made = make(text); !made) {
      problem = messages(made.failure());
      diagnostics = made.failure().diagnostics();
    }
  }
  Result<void> make(const std::string& text) {
    BUDA_ASSIGN(auto parsed, netlist::parse_netlist(text, "net.yaml", {device->arch}));
    netlist = std::make_unique<netlist::Netlist>(std::move(parsed));
    index = std::make_unique<NetlistIndex>(*netlist);
    BUDA_ASSIGN(epochs, epochs_of(*netlist, *device));
    BUDA_ASSIGN(padding, PaddingTable::make(*netlist, epochs, device->tile_alignment));
    if (epochs.empty()) return success();
    joined.links = available_links(*netlist, *device, joined);
    BUDA_ASSIGN(graph, build_pipes(*index, *device, epochs.front(), padding, joined));
    return success();
  }
};

// The parts of a netlist text.
inline std::string queue_text(const std::string& name, const std::string& input, const std::string& shape, int buffers, unsigned base,
                              const std::string& more = "type: queue, entries: 4") {
  std::string dram;
  for (int i = 0; i < buffers; ++i)
    dram += cat(i == 0 ? "" : ", ", '[', i % 6, ", ", std::uint64_t{base} + 0x1000000ull * static_cast<unsigned>(i / 6), ']');
  return cat("  ", name, ": {input: ", input, ", ", shape, ", ", more, ", df: Float16_b, target_device: 0, loc: dram, dram: [", dram,
             "]}\n");
}
inline std::string op_text(const std::string& name, const std::string& type, const std::string& inputs, int count, const std::string& place,
                           const std::string& shape, const std::string& more = "") {
  std::string formats;
  for (int i = 0; i < count; ++i) formats += i == 0 ? "Float16_b" : ", Float16_b";
  return cat("    ", name, ": {type: ", type, ", ", place, ", inputs: [", inputs, "], in_df: [", formats,
             "], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, untilize_output: false, ", shape,
             more.empty() ? "" : ", ", more, "}\n");
}
inline std::string netlist_text(const std::string& queues, const std::string& ops, int input_count, const std::string& settings = "",
                                const std::string& tail = "") {
  return cat("devices: {arch: [wormhole_b0, grayskull]}\nqueues:\n", queues,
             "graphs:\n  g:\n    target_device: 0\n    input_count: ", input_count, "\n", ops,
             "programs:\n  - p:\n    - execute: {graph_name: g, queue_settings: {", settings, "}}\n", tail);
}

// A matmul whose right operand is a prologue that each of two cores of a column reads one half of: K = 4, 16 columns of tiles per core, so
// 2 x 64 tiles, more than the kernel's buffer of 2 * 16.
inline std::string prologue_in_shares() {
  std::string ops = op_text("mm", "matmul", "a, w", 2, "grid_loc: [0, 0], grid_size: [2, 1]",
                            "t: 1, mblock: [1, 4], ublock: [1, 4], ublock_order: r, buf_size_mb: 2", "attributes: {m_k: 8, u_kt: 1}");
  return netlist_text(
      queue_text("a", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 8], ublock: [1, 1]", 1, 0x20000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [8, 4], ublock: [1, 4]", 1, 0x30000000, "type: ram, entries: 1") +
          queue_text("out", "mm", "grid_size: [2, 1], t: 1, mblock: [1, 4], ublock: [1, 4]", 2, 0x40000000),
      ops, 8, "w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}");
}

}  // namespace buda::pipes
