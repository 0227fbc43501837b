// An op on the vendor's simulator.
#pragma once

#include <buda/kernels/op_run.hpp>

#include <string>

namespace buda::ttsim {

// kernels::run_op, each core in a process of its own that loads `library`.
arith::Outcome run_op(const std::string& library, const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call);

}  // namespace buda::ttsim
