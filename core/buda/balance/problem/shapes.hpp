// SPDX-License-Identifier: Apache-2.0
// Whether the operands of an op arrive in the shapes that its result needs.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

namespace buda::balance {

// Sets what follows from the shapes of operands: the inner dimension, the slices of a reduction, the parts of a splice, the indices of an
// embedding, repeated weights. BL003, BL008, BL009, BL043 and what check_free_operands() says: all findings about the op. An op one of
// whose producers had an error is left as it is.
Result<void> set_shapes(const Problem& problem, const graph::Node& node, OpSpec& spec);

}  // namespace buda::balance
