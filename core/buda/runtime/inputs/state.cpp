// SPDX-License-Identifier: Apache-2.0
// The first step.
#include <buda/runtime/inputs/state.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::runtime {

Result<Tensor> first_state(const StatePort& state, const NamedTensors& given, Host& host) {
  const Port& port = state.input;
  if (auto it = given.find(port.tensor->name); it != given.end()) return with_dtype(port, it->second);
  if (state.first) return with_dtype(port, *state.first);
  host.log(0, cat("input '", port.tensor->name, "' is not given: it is zeros in the first step, and output '", state.output.tensor->name,
                  "' of the previous step from the second step on"));
  return Tensor::zeros(port.dtype, port.shape);
}

}  // namespace buda::runtime
