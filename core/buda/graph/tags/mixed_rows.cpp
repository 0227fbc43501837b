// SPDX-License-Identifier: Apache-2.0
// Reading of the tag.
#include <buda/graph/tags/mixed_rows.hpp>

#include <buda/graph/node.hpp>

namespace buda::graph {

std::string rows_mixed_by(const Node& output) {
  auto tag = output.tags.find(kRowsMixedBy);
  return tag == output.tags.end() ? "" : tag->second;
}

}  // namespace buda::graph
