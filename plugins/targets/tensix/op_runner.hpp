// Runs an op on cores: loads its kernel, feeds its inputs tile by tile, and collects what it makes.
//
// Each core runs for itself. What streams do on a chip is done here: tiles are put into the rings of the inputs when there is room, and
// taken from the output's when they are there, with the same counters as on a chip.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/kernels/kernel_set.hpp>

#include <atomic>
#include <cstdint>

namespace buda::tensix {

// What was executed by all cores.
struct Counts {
  std::atomic<std::uint64_t> cores{0}, riscv{0}, coprocessor{0};
};

class OpRunner {
 public:
  OpRunner(kernels::KernelSet kernels, const device::L1Map& l1) : kernels_(std::move(kernels)), l1_(l1) {}

  arith::Outcome run(const arith::OpCall& call);
  const Counts& counts() const { return counts_; }

 private:
  kernels::KernelSet kernels_;
  device::L1Map l1_;
  Counts counts_;
};

}  // namespace buda::tensix
