// SPDX-License-Identifier: Apache-2.0
// Models of splices.
#include <buda/balance/models/candidates.hpp>

namespace buda::balance {

// A core takes ublocks of its inputs in the order of the output: whole rows of ublocks, of each input those of the row, where inputs lie
// side by side, and whole columns where they lie below one another. So a core has all of that side, and ublocks divide what each input has
// of it. Matrices are taken whole.
void splice_models(Candidates& candidates) {
  const bool below = candidates.spec().splice.dim == netlist::Dim::r;
  candidates.for_each_grid([&](OpModel model) {
    if (below) model.order = netlist::UblockOrder::c;
    return candidates.offer(model);
  });
}

}  // namespace buda::balance
