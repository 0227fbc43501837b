// SPDX-License-Identifier: Apache-2.0
// Models of elementwise ops, of one input or several.
#include <buda/balance/models/candidates.hpp>

namespace buda::balance {

// One output ublock is made of one ublock of each input: nothing is left to choose once the grid and the ublock are.
void eltwise_models(Candidates& candidates) {
  candidates.for_each_grid([&](const OpModel& model) { return candidates.offer(model); });
}

}  // namespace buda::balance
