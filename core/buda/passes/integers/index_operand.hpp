// SPDX-License-Identifier: Apache-2.0
// Operands that are indices or lengths: which integers an op takes there.
//
// The host refuses any other (OP008). The device compares an index with 0, 1, 2, …: another one equals none of them, and what is read is
// zero. So a run has to refuse it before, where it comes from an input, and else the user is told.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/passes/integers/integer_range.hpp>

#include <cstddef>
#include <optional>

namespace buda::passes {

struct IndexOperand {
  std::size_t input = 0;  // which one of the op's
  IntegerRange legal;     // of each element; where elements have bounds of their own, the integers that are legal for all of them
  IntegerRange widest;    // those that are legal for one of them
};

std::optional<IndexOperand> index_operand(const graph::Graph& graph, const graph::Node& node);

// Gives inputs of the model that are only moved on their way to an index the range of legal ones, as far as they promise no smaller one:
// the tags value_range and index_of (graph/input_range.hpp). PA081: none of the promised integers is legal, or an element of a
// constant is not.
Result<void> bound_indices(graph::Graph& graph);

}  // namespace buda::passes
