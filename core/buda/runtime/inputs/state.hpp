// SPDX-License-Identifier: Apache-2.0
// What a model keeps from step to step: inputs that are outputs of the step before (graph/loopback.hpp).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::runtime {

// The value with which a state begins: the given one in the model's element type (RT022), or the model's own, or zeros, which the host is told.
Result<Tensor> first_state(const StatePort& state, const NamedTensors& given, Host& host);

}  // namespace buda::runtime
