// SPDX-License-Identifier: Apache-2.0
// Products with small groups of channels, as many inputs as outputs in each: the device's op `depthwise`.
#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/passes/decompose/channels_last.hpp>

namespace buda::conv {

bool is_depthwise(const Shape& weights, std::int64_t groups) {
  return groups > 1 && weights[0] == groups * weights[1] && graph::kTileSide % weights[1] == 0;
}

Edge depthwise(Builder& b, Edge x, const Edge& weights) {
  if (!b.status()) return {};
  std::int64_t channels = b.graph().type(x.source)->shape[3];
  x = passes::taps_to_columns(b, passes::padded_to(b, x, 3, whole_tiles(channels)));
  Edge y = b.named("product").op("depthwise", {x, weights});
  return passes::narrowed_to(b, y, 3, channels);
}

}  // namespace buda::conv
