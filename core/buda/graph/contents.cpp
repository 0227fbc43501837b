// Copying of contents.
#include <buda/graph/contents.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/value.hpp>

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
