// SPDX-License-Identifier: Apache-2.0
// Values of the model on their way into queues and out of them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/fwd.hpp>

namespace buda::runtime {

// One batch in the model's shape and type as the entries (w, z, r, c) that its queue takes.
Result<Tensor> entries_of(const Port& port, const Tensor& value);
// And back.
Result<Tensor> value_of(const Port& port, const Tensor& entries);

}  // namespace buda::runtime
