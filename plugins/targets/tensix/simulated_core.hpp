// SPDX-License-Identifier: Apache-2.0
// A simulated core, as those who run ops see it.
#pragma once

#include "core.hpp"
#include "debug/settings.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/kernels/run/op_run.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace buda::tensix {

class SimulatedCore final : public kernels::Core {
 public:
  explicit SimulatedCore(std::size_t l1_bytes, Places places = {}) : core_(l1_bytes, std::move(places)) {}

  void write(std::uint32_t address, std::string_view bytes) override;
  void read(std::uint32_t address, char* to, std::size_t count) override;
  std::uint32_t counter(std::uint32_t stream, Counter counter) override { return core_.stream(stream, static_cast<std::size_t>(counter)); }
  void set_counter(std::uint32_t stream, Counter counter, std::uint32_t value) override {
    core_.stream(stream, static_cast<std::size_t>(counter)) = value;
  }
  void allow(std::uint32_t address, std::uint32_t bytes, Use use) override;
  void start(const std::array<std::uint32_t, kThreads>& entries) override { core_.reset(entries); }
  Turn advance() override;
  std::string state(const StreamName& name_of) const override;
  // A processor that computes without instructions of the coprocessor or stores to registers may do so for as many turns of 2000
  // instructions.
  int patience() const override { return 200; }

  tensix::Core::Counts counts() const { return core_.counts(); }
  Checks& checks() { return core_.checks; }
  // After which a run ends.
  static constexpr Cycle kMaxCycles = 1'000'000'000;
  Cycle most_cycles = kMaxCycles;
  tensix::Core& core() { return core_; }
  // Until the last thread said in L1 that it has ended.
  Cycle cycles() const;

 private:
  tensix::Core core_;
};

// What was executed by all cores.
struct Counts {
  std::atomic<std::uint64_t> cores{0}, riscv{0}, coprocessor{0};
};

// How they are run.
struct RunOptions {
  bool checks =
      true;  // what a chip leaves undefined is an error; otherwise `warn` is told what was ignored, a sentence without a full stop
  std::function<void(std::string)> warn;
  Cycle most_cycles = SimulatedCore::kMaxCycles;  // of a core for an input
  DebugSettings debug;
  // What is written of the executions of an op, in the order of its cores; what its kernels print, and the state of the first core that
  // was stopped. And the chip of an op, for these lines.
  std::function<void(std::string)> trace, print;
  // What the destination register of each core holds in the end (dest_image), in their order.
  std::function<void(std::string)> dest;
  std::function<std::int32_t(const std::string& op)> chip_of;
};

// kernels::run_op on simulated cores.
arith::Outcome run_op(const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call, Counts& counts,
                      const RunOptions& options = {});

}  // namespace buda::tensix
