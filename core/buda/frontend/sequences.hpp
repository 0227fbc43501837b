// SPDX-License-Identifier: Apache-2.0
// Lists of numbers at one distance, which operators give by their ends.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>

#pragma GCC visibility push(default)

namespace buda::frontend {

// start, start + step, … up to but not including the limit, as elements of the type. Lists of more than 2^26 numbers are refused.
Result<Tensor> sequence(const OpImport& op, double start, double limit, double step, DType dtype);

}  // namespace buda::frontend

#pragma GCC visibility pop
