// SPDX-License-Identifier: Apache-2.0
// Small netlists for tests, written from what matters in them.
#pragma once

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/functional/device.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace buda::golden::test {

// A queue of one buffer of 1x1 ublocks: t matrices of rt x ct tiles.
inline std::string queue(const std::string& name, const std::string& input, int t, int rt, int ct, const std::string& df = "Float32",
                         int entries = 4, const std::string& type = "queue", const std::string& more = "") {
  return cat("  ", name, ": {type: ", type, ", input: ", input, ", entries: ", entries, ", grid_size: [1, 1], t: ", t, ", mblock: [", rt,
             ", ", ct, "], ublock: [1, 1], ublock_order: r, df: ", df, ", target_device: 0, loc: dram, dram: [[0, 0x10000000]]", more,
             "}\n");
}

struct OpText {
  std::string name = "op", type;
  std::vector<std::string> inputs;
  int t = 1, rt = 1, ct = 1;
  std::string in_df = "Float32", out_df = "Float32", intermed_df = "Float32", acc_df = "Float32", fidelity = "HiFi4";
  std::vector<std::string> in_dfs = {};    // of each input, where they differ
  std::string attributes = {}, more = {};  // "dim: c, type: max"; ", input_0_tms: [transpose]"
  int row = 0;                             // of the worker grid, so that ops do not overlap

  std::string text() const {
    const std::vector<std::string> formats = in_dfs.empty() ? std::vector<std::string>(inputs.size(), in_df) : in_dfs;
    return cat("    ", name, ": {type: ", type, ", grid_loc: [", row, ", 0], grid_size: [1, 1], inputs: [", join(inputs, ", "),
               "], in_df: [", join(formats, ", "), "], out_df: ", out_df, ", intermed_df: ", intermed_df, ", acc_df: ", acc_df,
               ", math_fidelity: ", fidelity, ", t: ", t, ", mblock: [", rt, ", ", ct, "], ublock: [1, 1], ublock_order: r, buf_size_mb: 2",
               attributes.empty() ? std::string() : cat(", attributes: {", attributes, "}"), more, "}\n");
  }
};

inline std::string netlist_text(const std::string& queues, const std::string& ops, const std::string& programs, int input_count = 1) {
  return cat("devices: {arch: wormhole_b0}\nqueues:\n", queues, "graphs:\n  g:\n    target_device: 0\n    input_count: ", input_count, "\n",
             ops, "programs:\n", programs);
}

// A program that executes graph g once; `settings` like "a: {rd_ptr_local: 0, rd_ptr_global: 0}".
inline std::string once(const std::string& settings) {
  return cat("  - main:\n    - execute: {graph_name: g, queue_settings: {", settings, "}}\n");
}
inline std::string at_start(const std::string& queue_name) {
  return cat(queue_name, ": {prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}");
}

class TestHost final : public Host {
 public:
  TestHost() : Host(files, sink) {}
  io::MemoryFileSystem files;
  CollectingSink sink;
};

inline std::string first_error(const Failure& failure) {
  return failure.diagnostics().empty() ? "" : failure.diagnostics().front().message;
}

inline Result<std::unique_ptr<runtime::Device>> open_device(const std::string& text, TestHost& host,
                                                            const functional::DeviceOptions& options = {}) {
  auto netlist = netlist::parse_netlist(text, "test.yaml");
  if (!netlist) {
    ADD_FAILURE() << first_error(netlist.failure()) << "\n" << text;
    return std::move(netlist).failure();
  }
  runtime::Program program;
  program.netlist = std::move(*netlist);
  return functional::make_device(program, options, host);
}

// Numbers in [low, high) that have 8 significant bits, as many as Float16_b keeps, so that pushing them changes nothing.
inline Tensor random_tensor(Shape shape, std::uint64_t seed, double low = -2, double high = 2) {
  const double steps = 256 / std::exp2(std::ceil(std::log2(std::max(std::fabs(low), std::fabs(high)))));
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(shape.volume().value()));
  for (float& x : v) x = static_cast<float>(std::round(rng.uniform(low, high) * steps) / steps);
  return Tensor(std::move(shape), std::move(v));
}

// Entries of one tile that are constants: one number per entry.
inline Tensor entries(const std::vector<float>& values) {
  std::vector<float> v;
  for (float x : values) v.insert(v.end(), 1024, x);
  return Tensor(Shape{static_cast<std::int64_t>(values.size()), 1, 32, 32}, std::move(v));
}

inline std::vector<float> constants(const Result<Tensor>& t) {
  if (!t) return {-999};
  std::vector<float> out;
  for (std::size_t i = 0; i < t->size(); i += 1024) out.push_back(t->as<float>()[i]);
  return out;
}

// Runs a netlist of one graph and program `main` on given queues, and gives the entries of queue `out`.
struct Given {
  std::string queue;
  Tensor tensor;
};
inline Result<Tensor> run_netlist(const std::string& text, const std::vector<Given>& inputs, const functional::DeviceOptions& options = {},
                                  unsigned threads = 1) {
  TestHost host;
  host.threads = threads;
  BUDA_ASSIGN(auto device, open_device(text, host, options));
  for (const auto& [name, tensor] : inputs) BUDA_TRY(device->push(name, tensor));
  BUDA_TRY(device->run("main", {}));
  BUDA_ASSIGN(auto count, device->waiting("out"));
  return device->pop("out", count);
}

}  // namespace buda::golden::test
