// SPDX-License-Identifier: Apache-2.0
// Padding of results whose sizes have too few divisors: columns of zeros that nobody reads.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/problem.hpp>

#include <cstdint>
#include <optional>

namespace buda::balance {

// The columns of tiles, more than it has, with which a matmul has the fastest legal model; nothing where it is no dense matmul, its columns
// do not come from parameters of its own, or no number within an eighth more has a model.
std::optional<std::int64_t> padded_columns(const Problem& problem, OpId op, const ModelOptions& options, const OpOverride* overrides);

// Gives the result of `op` so many columns. Its parameters are filled up with zeros on the way into their queues; its users, and the host,
// cut the columns off.
void pad_columns(Problem& problem, OpId op, std::int64_t columns);

}  // namespace buda::balance
