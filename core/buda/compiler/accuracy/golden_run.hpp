// SPDX-License-Identifier: Apache-2.0
// What a compiled model gives in a mode of target golden: with the arithmetic of a Tensix core, bit by bit, or as exact as its formats are.
#pragma once

#include <buda/arith/precision.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace buda::compiler {

struct GoldenRun {
  NamedTensors outputs;
  NamedTensors ops;  // what ops made of the first inputs: (n, z, r, c)
};

// `kept`: of which ops the results are kept, and for how many inputs.
Result<GoldenRun> run_on_golden(runtime::Model model, const device::DeviceDescriptor& device, arith::Mode mode, const NamedTensors& inputs,
                                const std::map<std::string, std::int64_t>& kept, Host& host);

}  // namespace buda::compiler
