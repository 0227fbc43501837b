// SPDX-License-Identifier: Apache-2.0
// The minimum cut of a network of capacities: which edges of least capacity separate a source from a sink. Internal to the passes module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace buda::passes {

class FlowNetwork {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  explicit FlowNetwork(std::size_t nodes) : edges_of_(nodes) {}

  void connect(std::size_t from, std::size_t to, std::int64_t capacity);

  // By node, whether it is on the sink's side of the minimum cut that is nearest to the sink. Some way from source to sink must be limited.
  // Dinic's algorithm; call once.
  std::vector<bool> sink_side(std::size_t source, std::size_t sink);

 private:
  struct Edge {
    std::size_t to;
    std::int64_t left;  // capacity that is not used
  };
  Edge& reverse(std::size_t edge) { return edges_[edge ^ 1]; }
  bool find_levels(std::size_t source, std::size_t sink);
  // A way along which something flows; false if there is none.
  bool add_way(std::size_t source, std::size_t sink);

  std::vector<Edge> edges_;  // an edge and its reverse are neighbours
  std::vector<std::vector<std::size_t>> edges_of_;
  std::vector<std::size_t> level_, next_;
};

}  // namespace buda::passes
