// How long kernels take, from their own instructions: each is executed once, for one input of zeros, on the first core of its op.
//
// Tiles are there and are taken as soon as a kernel has room for them, so that what it waits for is the other's, not the op's. Other
// numbers would take the same cycles; what depends on them, the list of a sparse product, is not measured.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/kernels/kernel_set.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace buda::tensix {

class KernelCycles {
 public:
  // The kernels outlive it.
  static Result<std::shared_ptr<KernelCycles>> make(const netlist::Netlist& netlist, const kernels::KernelSet& kernels, device::L1Map l1);

  // Cycles until the last thread of a core has ended; nothing where that cannot be known beforehand. From several threads.
  std::optional<double> of(const netlist::Op& op);

 private:
  KernelCycles(const netlist::Netlist& netlist, const kernels::KernelSet& kernels, device::L1Map l1)
      : netlist_(netlist), kernels_(kernels), l1_(l1) {}
  std::optional<double> measured(const arith::OpPlan& plan) const;

  netlist::Netlist netlist_;
  const kernels::KernelSet& kernels_;
  device::L1Map l1_;
  arith::Plans plans_;
  std::map<std::string, const arith::OpPlan*> ops_;
  std::mutex mutex_;
  std::map<std::string, std::optional<double>> known_;
};

}  // namespace buda::tensix
