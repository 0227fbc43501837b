// SPDX-License-Identifier: Apache-2.0
// Copying of contents.
#include <buda/graph/node.hpp>
#include <buda/graph/parts/contents.hpp>
#include <buda/graph/values/value.hpp>

namespace buda::graph {

void copy_contents(const Node& from, Node& to) {
  to.outputs = from.outputs;
  to.attrs = from.attrs;
  to.precision = from.precision;
  to.origins = from.origins;
  to.tags = from.tags;
  to.value = from.value;
  to.loc = from.loc;
}

}  // namespace buda::graph
