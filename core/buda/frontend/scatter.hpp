// SPDX-License-Identifier: Apache-2.0
// Values put to places of a result that is zero elsewhere.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/shape.hpp>

#pragma GCC visibility push(default)

namespace buda::frontend {

// The last axis of `indices` holds coordinates in `shape`, of an element or of a slice. Updates (of this type) at one place are added.
// Shapes of more than 2^26 elements are refused.
Result<graph::ValueRef> scattered_onto_zeros(OpImport& op, graph::ValueRef indices, graph::ValueRef updates, DType dtype,
                                             const Shape& shape);

}  // namespace buda::frontend

#pragma GCC visibility pop
