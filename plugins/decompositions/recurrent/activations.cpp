// SPDX-License-Identifier: Apache-2.0
// The functions of gates, as ops of the graph; other families bring those that chips do not have further down.
#include "rules.hpp"

namespace buda::recurrent {

using namespace plugin;

Term applied(Rewrite& r, const Function& f, const Term& given) {
  std::string_view name = f.function.name;
  double alpha = f.function.alpha, beta = f.function.beta;
  Term x = f.clip > 0 ? clip(given, -f.clip, f.clip) : given;
  if (name == "affine") return x * alpha + beta;
  if (name == "scaled_tanh") return tanh(x * beta) * alpha;
  if (name == "elu" || name == "leaky_relu" || name == "thresholded_relu") return r.op(name, {x}, {{"alpha", alpha}});
  if (name == "hard_sigmoid") return r.op(name, {x}, {{"alpha", alpha}, {"beta", beta}});
  return r.op(name, {x});
}

}  // namespace buda::recurrent
