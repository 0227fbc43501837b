// SPDX-License-Identifier: Apache-2.0
// What a node has besides its name, op and inputs, for those who build one graph of another.
#pragma once

#include <buda/graph/fwd.hpp>

namespace buda::graph {

// Types, attributes, precision, origins, tags, value and place in its file.
void copy_contents(const Node& from, Node& to);

}  // namespace buda::graph
