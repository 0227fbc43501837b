// SPDX-License-Identifier: Apache-2.0
// Between the host's tensors and what queues hold.
#pragma once

#include <buda/arith/precision.hpp>
#include <buda/arith/value.hpp>

#include <buda/diag/result.hpp>
#include <buda/netlist/model/queue.hpp>
#include <buda/tensor/fwd.hpp>

#include <span>
#include <vector>

namespace buda::arith {

// A tensor (w, z, r, c) as w entries of a queue: rounded to its format, or, in mode fp32, kept. The error says which shape is needed.
Result<std::vector<ValuePtr>> entries_from(const Tensor& tensor, const netlist::Queue& queue, Mode mode);

// The way back: F32 for all float formats, otherwise the host's type of the same width (Int8 as I8, RawUInt32 as U32). Null entries are
// zeros.
Tensor tensor_from(std::span<const ValuePtr> entries, const netlist::Queue& queue);

// The same for one value, (1, z, r, c).
Tensor tensor_from(const Value& value);

}  // namespace buda::arith
