// What a compiled model gives on the arithmetic of a Tensix core, bit by bit, on the host.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace buda::compiler {

struct BitsRun {
  NamedTensors outputs;
  NamedTensors ops;  // what ops made of the first inputs: (n, z, r, c)
};

// `kept`: of which ops the results are kept, and for how many inputs.
Result<BitsRun> run_on_bits(runtime::Model model, const device::DeviceDescriptor& device, const NamedTensors& inputs,
                            const std::map<std::string, std::int64_t>& kept, Host& host);

}  // namespace buda::compiler
