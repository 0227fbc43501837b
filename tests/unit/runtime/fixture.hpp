// SPDX-License-Identifier: Apache-2.0
// A small compiled model, and a target that computes something simple with it.
#pragma once

#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace buda::runtime::test {

class TestHost final : public Host {
 public:
  TestHost() : Host(files, sink) {}
  io::MemoryFileSystem files;
  CollectingSink sink;
};

// x (2 rows of 3 in the model) times w; y gives both rows back. Queues hold `entries` entries.
inline std::string netlist_text(int entries = 2, const std::string& extra_param = "") {
  const std::string shape =
      "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], df: Float32, target_device: 0, loc: dram, dram: [[0, 0x10000000]]";
  return "devices: {arch: wormhole_b0}\nqueues:\n"
         "  q_x: {type: queue, input: HOST, entries: " +
         std::to_string(entries) + ", " + shape +
         "}\n"
         "  q_w: {type: ram, input: HOST, entries: 1, " +
         shape +
         "}\n"
         "  q_y: {type: queue, input: op, entries: " +
         std::to_string(entries) + ", " + shape +
         "}\n"
         "graphs:\n  g:\n    target_device: 0\n    input_count: 1\n"
         "    op: {type: multiply, grid_loc: [0, 0], grid_size: [1, 1], inputs: [q_x, q_w], in_df: [Float32, Float32], out_df: Float32, "
         "intermed_df: Float32, acc_df: Float32, "
         "math_fidelity: HiFi4, t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2}\n"
         "programs:\n  - run_fwd:\n    - param: [$p_loop_count" +
         extra_param +
         "]\n    - staticvar: {$p: 0}\n    - loop: $p_loop_count\n"
         "    - execute: {graph_name: g, queue_settings: {q_x: {rd_ptr_local: $p, rd_ptr_global: $p}}}\n    - varinst: [$p, incwrap, 1, " +
         std::to_string(2 * entries) +
         "]\n    - endloop\n"
         "  - second:\n    - execute: {graph_name: g}\n";
}

inline netlist::Netlist parsed(const std::string& text) {
  auto netlist = netlist::parse_netlist(text, "net.yaml");
  if (!netlist) ADD_FAILURE() << netlist.failure().diagnostics().front().message;
  return netlist ? std::move(*netlist) : netlist::Netlist{};
}

inline host_plan::HostPlan plan() {
  using host_plan::TransformKind;
  host_plan::HostPlan p;
  p.model = "m";
  p.device = "n150";
  p.arch = "wormhole_b0";
  p.inputs = {{"x", "F32", {2, 3}, "q_x", {{TransformKind::reshape, {1, 1, 2, 3}, 0}, {TransformKind::pad, {0, 0, 30, 29}, 0}}}};
  p.outputs = {{"y", "F32", {2, 3}, "q_y", {{TransformKind::narrow, {1, 1, 2, 3}, 0}, {TransformKind::reshape, {2, 3}, 0}}}};
  p.segments = {{host_plan::SegmentKind::device, "net.yaml", {"run_fwd"}}};
  return p;
}

inline Tensor tile(float value) { return Tensor(Shape{1, 1, 32, 32}, std::vector<float>(1024, value)); }

inline Model model(int entries = 2) {
  Model m;
  m.plan = plan();
  m.program.netlist = parsed(netlist_text(entries));
  m.parameters.emplace("q_w", tile(10));
  return m;
}

// Multiplies every pushed number by the first of q_w, an entry per execution, and remembers what it was asked.
class FakeDevice final : public Device, private netlist::ProgramEvents {
 public:
  FakeDevice(const netlist::Netlist& n, std::vector<std::string>& calls)
      : netlist_(n), vm_(std::move(*netlist::ProgramVm::make(netlist_))), calls_(calls) {}

  Result<void> push(const std::string& queue, const Tensor& t) override {
    calls_.push_back("push " + queue + " " + std::to_string(t.shape()[0]));
    for (std::int64_t i = 0; i < t.shape()[0]; ++i) in_.push_back(*rows_of(t, i, 1));
    return success();
  }
  Result<void> write(const std::string& queue, std::int64_t, const Tensor& t) override {
    calls_.push_back("write " + queue);
    factor_ = t.as<float>()[0];
    return success();
  }
  Result<void> start(const std::string& program, const Parameters& parameters) override {
    std::string call = "run " + program;
    netlist::ProgramParameters values;
    for (const auto& [name, value] : parameters) {
      call += " " + name + "=" + std::to_string(value);
      values[name] = static_cast<std::int32_t>(value);
    }
    calls_.push_back(call);
    return vm_.run(program, values, *this);
  }
  Result<Tensor> pop(const std::string& queue, std::int64_t count) override {
    calls_.push_back("pop " + queue + " " + std::to_string(count));
    if (static_cast<std::int64_t>(out_.size()) < count) return input_error("FAKE", {}, "nothing there");
    std::vector<Tensor> parts(out_.begin(), out_.begin() + count);
    out_.erase(out_.begin(), out_.begin() + count);
    return joined(parts);
  }
  Result<std::int64_t> waiting(const std::string&) override { return static_cast<std::int64_t>(out_.size()); }
  Result<Tensor> read(const std::string&, std::int64_t, std::int64_t) override { return tile(factor_); }
  Telemetry telemetry() const override { return {{"epochs", epochs_}}; }

 private:
  Result<void> execute(const netlist::Execution&) override {
    ++epochs_;
    if (in_.empty()) return input_error("FAKE", {}, "no input");
    std::vector<float> v = in_.front().to_f32();
    for (float& x : v) x *= factor_;
    out_.emplace_back(in_.front().shape(), std::move(v));
    in_.pop_front();
    return success();
  }

  netlist::Netlist netlist_;
  netlist::ProgramVm vm_;
  std::vector<std::string>& calls_;
  std::deque<Tensor> in_, out_;
  float factor_ = 0;
  double epochs_ = 0;
};

class FakeTarget final : public Target {
 public:
  Result<std::unique_ptr<Device>> open(const Program& program, const device::DeviceDescriptor&, Host&) override {
    return std::unique_ptr<Device>(std::make_unique<FakeDevice>(program.netlist, calls));
  }
  std::vector<std::string> calls;
};

template <class T>
std::string error_of(const Result<T>& r) {
  if (r.ok()) return "(no error)";
  std::string out;
  for (const auto& d : r.failure().diagnostics()) out += d.code + ": " + d.message + "\n";
  return out;
}

}  // namespace buda::runtime::test
