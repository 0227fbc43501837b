// SPDX-License-Identifier: Apache-2.0
// Outputs whose rows depend on each other, along the first axis: such a model computes all rows of a run at once. A tag of the output
// names the op that mixes them:
//
//   y = output(centred)     rows_mixed_by=/ReduceMean
#pragma once

#include <buda/graph/fwd.hpp>

#include <string>

namespace buda::graph {

inline constexpr const char* kRowsMixedBy = "rows_mixed_by";  // the tag; its value is the name of a node of the model

// The tag's text; empty without one.
std::string rows_mixed_by(const Node& output);

}  // namespace buda::graph
