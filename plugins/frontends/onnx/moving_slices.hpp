// SPDX-License-Identifier: Apache-2.0
// Slices whose starts are computed at run time, and whose sizes are known while importing.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>

#include <cstdint>
#include <optional>

namespace buda::onnx_frontend {

// a - b for two single integers, of which at least one is computed at run time: a known number where both are the same value plus or less
// known numbers; else nothing.
std::optional<std::int64_t> known_difference(frontend::ValueStore& store, graph::ValueRef a, graph::ValueRef b);

// `size` elements of x along an axis, from `start` (one integer) on, as the operator's result. A start that is negative counts from the
// end; a place outside of x is an error when the model runs.
Result<graph::ValueRef> moving_slice(frontend::OpImport& op, frontend::ValueStore& store, graph::ValueRef x, std::int64_t axis,
                                     graph::ValueRef start, std::int64_t size);

}  // namespace buda::onnx_frontend
