// SPDX-License-Identifier: Apache-2.0
// Models of reductions along r, c or z.
#include <buda/balance/models/candidates.hpp>

namespace buda::balance {

// Along r and c the reduced dimension stays on one core, in m_k steps of u_kt tiles; the other one may be spread. Along z it is like an
// elementwise op that takes z mblocks for one.
void reduce_models(Candidates& candidates) {
  const OpSpec& spec = candidates.spec();
  auto dim = spec.op.attributes.reduce_dim;
  if (dim != netlist::Dim::r && dim != netlist::Dim::c) {
    candidates.for_each_grid([&](const OpModel& model) { return candidates.offer(model); });
    return;
  }
  auto steps = candidates.inner_steps(spec.inner);
  candidates.for_each_grid([&](OpModel model) {
    bool any = false;
    for (std::int64_t step : steps) {
      model.u_kt = static_cast<std::int32_t>(step);
      model.m_k = static_cast<std::int32_t>(spec.inner / step);
      any = candidates.offer(model) || any;
    }
    return any;
  });
}

}  // namespace buda::balance
