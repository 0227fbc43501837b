// SPDX-License-Identifier: Apache-2.0
// Families of random ops. A step makes one op, or a few that belong together, on values of the pool; none where what it drew does not fit.
#pragma once

#include "random_pool.hpp"

namespace buda::passes {

void basic_step(RandomPool& pool);      // elementwise, products, reductions, normalisations, simple movement
void batch_step(RandomPool& pool);      // what lets the elements of a batch meet
void spatial_step(RandomPool& pool);    // convolutions, pools, resizes, norms of channels
void movement_step(RandomPool& pool);   // slices, concatenations, borders, transposes and reshapes of all kinds, heads of attention
void selection_step(RandomPool& pool);  // comparisons, where, logic, places of extremes, running sums, known indices

}  // namespace buda::passes
