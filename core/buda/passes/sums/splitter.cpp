// SPDX-License-Identifier: Apache-2.0
// Edges that divide what does not divide are filled up with zeros.
#include <buda/passes/sums/splitter.hpp>

#include <buda/base/checked.hpp>

namespace buda::passes {

Edge filled_up(Splitter& s, Edge edge, bool along_c, std::int64_t more) {
  if (more == 0) return edge;
  edge.tms.push_back(along_c ? Tm::pad(0, more, 0) : Tm::pad(more, 0, 0));
  Shape shape = s.shape(edge);
  return Edge(s.op("filled_up", "nop", {std::move(edge)}, {}, std::move(shape)));
}

Edge sliced(Splitter& s, Edge edge, bool along_c, std::int64_t tiles, std::int64_t parts) {
  edge = filled_up(s, std::move(edge), along_c, align_up(tiles, parts) - tiles);
  if (parts > 1) edge.tms.push_back(along_c ? Tm::hslice(parts) : Tm::vslice(parts));
  return edge;
}

std::int64_t parts_of(std::int64_t tiles, std::int64_t most) {
  const std::int64_t fewest = ceil_div(tiles, most);
  for (std::int64_t parts = fewest; parts <= 2 * fewest; ++parts)
    if (tiles % parts == 0) return parts;
  return fewest;
}

Edge repeated(Edge edge, TmDim dim, std::int64_t n) {
  if (n > 1) edge.tms.push_back(Tm::broadcast(dim, n));
  return edge;
}

std::vector<float> unit_matrix(std::int64_t side) {
  std::vector<float> numbers(static_cast<std::size_t>(side * side), 0.0f);
  for (std::int64_t i = 0; i < side; ++i) numbers[static_cast<std::size_t>(i * side + i)] = 1;
  return numbers;
}

}  // namespace buda::passes
