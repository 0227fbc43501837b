// SPDX-License-Identifier: Apache-2.0
// An epoch of a netlist text, ready to execute, for tests.
#pragma once

#include <buda/base/text.hpp>
#include <buda/overlay/build.hpp>
#include <buda/sim/epoch/epoch_run.hpp>
#include <buda/sim/epoch/epoch_setup.hpp>

#include "unit/pipes/built.hpp"

#include <map>
#include <memory>
#include <string>

namespace buda::sim {

// Kernels that take a given time for an input, all the same unless said otherwise.
class FixedCore final : public CoreModel {
 public:
  explicit FixedCore(double cycles = 1000, std::map<std::string, double> of_op = {}) : cycles_(cycles), of_op_(std::move(of_op)) {}
  Result<KernelPlan> plan(const KernelContext& kernel) const override {
    KernelPlan plan = plan_steps(kernel.op, kernel.operands);
    const auto own = of_op_.find(kernel.op.name);
    plan.input_time = ticks_of(own == of_op_.end() ? cycles_ : own->second);
    return plan;
  }

 private:
  double cycles_;
  std::map<std::string, double> of_op_;
};

struct RunOf {
  explicit RunOf(const std::string& text, const std::string& device = "wormhole_b0")
      : shared(std::make_shared<pipes::Built>(text, device)) {
    if (!built.ok()) {
      problem = built.problem;
      return;
    }
    auto made = overlay::build_blob(built.graph, *built.device, built.cluster());
    if (made) {
      blob = std::move(*made);
    } else {
      problem = pipes::messages(made.failure());
    }
  }

  // Executes the present stream programs.
  Result<EpochRun> start(const EntriesByQueue& entries = {}) const {
    EpochSetup setup{*built.index, *built.device, built.epochs.front(), built.padding, std::make_shared<const overlay::Blob>(blob), cores};
    setup.chunk_tiles = chunk_tiles;
    setup.core_starts = core_starts;
    setup.transfers = transfers;
    return EpochRun::make(setup, entries);
  }
  // "ended", "waits", "deadlocked: …" with its notes, or the errors.
  std::string outcome(const EntriesByQueue& entries = {}) const {
    auto run = start(entries);
    if (!run) return pipes::messages(run.failure());
    auto state = run->advance(kForever);
    if (!state) return pipes::messages(state.failure());
    if (*state == RunState::ended) return "ended";
    if (*state == RunState::waits) return "waits";
    std::string out = "deadlocked: " + run->why().message + "\n";
    for (const Note& note : run->why().notes) out += note.message + "\n";
    return out;
  }
  perf::EpochSummary summary() const {
    auto run = start();
    EXPECT_TRUE(run.ok());
    if (!run) return {};
    auto state = run->advance(kForever);
    EXPECT_TRUE(state.ok() && *state == RunState::ended) << outcome();
    return run->summary();
  }

  // The same netlist with other stream programs.
  RunOf with(overlay::Blob other) const {
    RunOf out(shared);
    out.blob = std::move(other);
    return out;
  }

  std::shared_ptr<const pipes::Built> shared;
  const pipes::Built& built = *shared;
  overlay::Blob blob;
  FixedCore cores;
  std::int64_t chunk_tiles = 8;
  std::vector<Ticks> core_starts;  // by Blob::cores; empty: at once
  TimeScale transfers;
  std::string problem;

 private:
  explicit RunOf(std::shared_ptr<const pipes::Built> of) : shared(std::move(of)) {}
};

// x -> a -> b -> y on a core each, of 2 x 2 tiles.
inline std::string two_ops(int inputs, const std::string& more = "") {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  return pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
                                 queue_text("y", "b", "grid_size: [1, 1], " + shape, 1, 0x30000000),
                             op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block, more) +
                                 op_text("b", "nop", "a", 1, "grid_loc: [1, 0], grid_size: [1, 1]", block),
                             inputs);
}

// x -> op0 -> op1 -> … -> y on a core each; an op works on an input in one step.
inline std::string chain_of_ops(int ops, int inputs) {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 1, mblock: [1, 1], ublock: [2, 2]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  std::string text, last = "x";
  for (int i = 0; i < ops; ++i) {
    const std::string name = cat("op", i);
    text += op_text(name, "nop", last, 1, cat("grid_loc: [", i, ", 0], grid_size: [1, 1]"), block);
    last = name;
  }
  return pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000, cat("type: queue, entries: ", inputs)) +
                                 queue_text("y", last, "grid_size: [1, 1], " + shape, 1, 0x30000000, cat("type: queue, entries: ", inputs)),
                             text, inputs);
}

}  // namespace buda::sim
