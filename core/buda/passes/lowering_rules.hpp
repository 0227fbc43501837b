// The rules of lower-to-device: what becomes of each op. Internal to the passes module.
#pragma once

#include <buda/passes/lowering.hpp>

#include <string_view>
#include <vector>

namespace buda::passes {

struct LoweringRule {
  std::string_view op;  // at tensor level
  Result<Lowered> (*lower)(Lowering& lowering, const graph::Node& node);
};

const std::vector<LoweringRule>& eltwise_rules();   // lower_eltwise.cpp
const std::vector<LoweringRule>& matmul_rules();    // lower_matmul.cpp
const std::vector<LoweringRule>& reduce_rules();    // lower_reduce.cpp
const std::vector<LoweringRule>& movement_rules();  // lower_movement.cpp

// Null when an op has none.
const LoweringRule* find_lowering_rule(std::string_view op);

// Whether the node gives the elements of its only input under another shape, in the same order: reshapes, and transposes that move only
// axes of size 1.
bool is_reshape(const graph::Graph& graph, const graph::Node& n);
// From four axes to four others in the same order of elements: how a chip can do it, if it can.
enum class ReshapeWay : std::uint8_t { same, transpose, stacks, none };
ReshapeWay reshape_way(const Shape& in, const Shape& out);
// For each of the four axes of a result that one of the argument, when a permutation of the model's axes is one of the four; empty when
// not.
std::vector<std::size_t> four_axis_permutation(const std::vector<std::int64_t>& permutation);

}  // namespace buda::passes
