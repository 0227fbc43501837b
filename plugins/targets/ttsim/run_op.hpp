// SPDX-License-Identifier: Apache-2.0
// An op on the vendor's simulator.
#pragma once

#include <buda/kernels/run/op_run.hpp>

#include <functional>
#include <string>

namespace buda::ttsim {

// kernels::run_op, each core in a process of its own that loads `library`. `dest`, if there is one, is told what the destination register
// of each core holds in the end.
arith::Outcome run_op(const std::string& library, const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call,
                      const std::function<void(std::string)>& dest = {});

}  // namespace buda::ttsim
