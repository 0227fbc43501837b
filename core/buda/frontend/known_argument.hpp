// SPDX-License-Identifier: Apache-2.0
// Arguments of operators that must be known while importing, because they decide about types.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

// The tensor that a value is. If it depends on inputs of the model, the operator is refused, with the advice to fix those that only steer
// it (--value). `what` the value is stands in the message: "axes (input 1, 'axes')".
Result<Tensor> known_argument(const OpImport& op, ValueStore& store, const Operand& value, std::string_view what);

// The numbers of an argument that must be a list of integers; or of one integer.
Result<std::vector<std::int64_t>> integers_of(const OpImport& op, const Tensor& argument, std::string_view what);
Result<std::int64_t> integer_of(const OpImport& op, const Tensor& argument, std::string_view what);
// An argument that must be a single number, or a single truth value (a number other than 0).
Result<double> number_of(const OpImport& op, const Tensor& argument, std::string_view what);
Result<bool> truth_of(const OpImport& op, const Tensor& argument, std::string_view what);

}  // namespace buda::frontend

#pragma GCC visibility pop
