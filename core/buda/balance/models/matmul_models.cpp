// SPDX-License-Identifier: Apache-2.0
// Models of dense matmuls, with or without bias, and of depthwise ones.
#include <buda/balance/models/candidates.hpp>

namespace buda::balance {

// The kernel goes over the inner dimension in m_k steps of u_kt tiles, and adds up partial results in the output buffer. A larger u_kt
// means fewer of those rounds and larger input buffers: two blocks of (mblock_m) x ublock_rt x u_kt tiles for the left operand and of u_kt
// x ublock_ct x mblock_n for the right one. Every divisor of the inner dimension gives a model; the largest that fits stands first. The
// left operand is taken ublock row by ublock row (min_buffer_input 0), so mblock_m does not count.
void matmul_models(Candidates& candidates) {
  const OpSpec& spec = candidates.spec();
  auto steps = candidates.inner_steps(spec.inner);
  candidates.for_each_grid([&](OpModel model) {
    bool any = false;
    for (std::int64_t step : steps) {
      model.u_kt = static_cast<std::int32_t>(step);
      model.m_k = static_cast<std::int32_t>(spec.inner / step);
      any = candidates.offer(model) || any;
      // Of those that stream the one with the fewest rounds: they are many already.
      if (any && model.stream.parts > 1) break;
    }
    return any;
  });
}

// A tile of the result is a sum over m_k tiles of the left operand, one step each. All cores of a row get the same tiles of the left
// operand, and each of its tiles counts for one column of the result: so there is one column of cores.
void depthwise_models(Candidates& candidates) {
  candidates.for_each_grid([&](OpModel model) {
    model.u_kt = 1;
    model.m_k = static_cast<std::int32_t>(candidates.spec().inner);
    return candidates.offer(model);
  });
}

}  // namespace buda::balance
