// SPDX-License-Identifier: Apache-2.0
// How many inputs of a problem an epoch takes, and how many rows of the model's batch they are.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

namespace buda::balance {

// Sets Problem::microbatch from w and the batches, and Problem::batch where inputs and outputs agree on it. BL017: queues cannot count so
// many, or a model with state gets several batches at once.
Result<void> set_batches(const graph::Graph& graph, Problem& problem);

// The most that an epoch can take, as far as queues and the model's state are concerned.
std::int64_t max_batches(const Problem& problem);

}  // namespace buda::balance
