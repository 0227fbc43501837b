// SPDX-License-Identifier: Apache-2.0
// topk by ranks: an element's place in the result is the number of elements that come before it.
//
//   rank_i   = sum over j of (x_j > x_i or (x_j == x_i and j < i))     a comparison of each element with each
//   result_p = sum over i of (rank_i == p) x_i                         a product with ones and zeros; of places likewise
//
// That is as many ops for any k, while taking the largest, then the largest of what is left, and so on is a dozen ops for each of the k.
#pragma once

#include <buda/passes/integers/step.hpp>

namespace buda::passes {

// Whether its lines have room for their comparisons, of which each is a matrix.
bool has_room_for_ranks(const IntegerStep& s);

// A topk of integers that can be split, along an axis whose places can be moved.
Exactness top_by_ranks(IntegerStep& s);

}  // namespace buda::passes
