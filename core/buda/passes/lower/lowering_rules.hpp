// The rules of lower-to-device: what becomes of each op. Internal to the passes module.
#pragma once

#include <buda/passes/lower/lowering.hpp>

#include <string_view>
#include <vector>

namespace buda::passes {

struct LoweringRule {
  std::string_view op;  // at tensor level
  Result<Lowered> (*lower)(Lowering& lowering, const graph::Node& node);
  bool takes_known_integers = false;  // pickers, indices
  // Whether it also serves whole numbers and truth values, which are floating-point numbers on the device: what moves elements, and what
  // converts them.
  bool any_type = false;
};

const std::vector<LoweringRule>& eltwise_rules();    // lower_eltwise.cpp
const std::vector<LoweringRule>& matmul_rules();     // lower_matmul.cpp
const std::vector<LoweringRule>& reduce_rules();     // lower_reduce.cpp
const std::vector<LoweringRule>& movement_rules();   // lower_movement.cpp
const std::vector<LoweringRule>& selection_rules();  // lower_selection.cpp
const std::vector<LoweringRule>& sparse_rules();     // lower_sparse.cpp

// Null when an op has none.
const LoweringRule* find_lowering_rule(std::string_view op);

// Whether the node gives the elements of its only input under another shape, in the same order: reshapes, and transposes that move only
// axes of size 1.
bool is_reshape(const graph::Graph& graph, const graph::Node& n);
// Whether it moves elements, one to one: reshapes and transposes.
bool is_rearrangement(const graph::Node& n);
}  // namespace buda::passes
