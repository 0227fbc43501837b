// SPDX-License-Identifier: Apache-2.0
// How long kernels take, from their own instructions: each is executed once, for one input of zeros, on the first core of its op.
//
// Tiles are there and are taken as soon as a kernel has room for them, so that what it waits for is the other's, not the op's. Other
// numbers would take the same cycles; what depends on them, the list of a sparse product, is not measured.
#pragma once

#include "simulated_core.hpp"

#include <buda/arith/graph_plan.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/kernels/text/kernel_set.hpp>
#include <buda/perf/summary.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::tensix {

class KernelCycles {
 public:
  using Mark = perf::EpochSummary::Op::Mark;

  // The kernels outlive it. `warn` is told of marks that are lost, a sentence without a full stop.
  static Result<std::shared_ptr<KernelCycles>> make(const netlist::Netlist& netlist, const kernels::KernelSet& kernels, device::L1Map l1,
                                                    std::function<void(std::string)> warn = {},
                                                    Cycle most_cycles = SimulatedCore::kMaxCycles);

  // Cycles until the last thread of a core has ended; nothing where that cannot be known beforehand. From several threads.
  std::optional<double> of(const netlist::Op& op);
  // Where the zones of its kernel begin and end.
  std::vector<Mark> marks_of(const netlist::Op& op);

 private:
  struct Measured {
    double cycles = 0;
    std::vector<Mark> marks;
  };
  KernelCycles(const netlist::Netlist& netlist, const kernels::KernelSet& kernels, device::L1Map l1, std::function<void(std::string)> warn,
               Cycle most_cycles)
      : netlist_(netlist), kernels_(kernels), l1_(l1), warn_(std::move(warn)), most_cycles_(most_cycles) {}
  const std::optional<Measured>& find(const netlist::Op& op);
  std::optional<Measured> measured(const arith::OpPlan& plan) const;

  netlist::Netlist netlist_;
  const kernels::KernelSet& kernels_;
  device::L1Map l1_;
  std::function<void(std::string)> warn_;
  Cycle most_cycles_;
  arith::Plans plans_;
  std::map<std::string, const arith::OpPlan*> ops_;
  std::mutex mutex_;
  std::map<std::string, std::optional<Measured>> known_;
};

}  // namespace buda::tensix
