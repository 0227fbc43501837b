// SPDX-License-Identifier: Apache-2.0
// Branches on data: a chip runs one program, so both are computed, and of each pair of results one is taken.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

// For each pair of results the first one if the condition (one boolean or number) is true, else the second one. Both must have one type; if
// one of them has failed, so has the selection.
//
//   results {a, c}, {b, d}  ->  {where(condition, a, b), where(condition, c, d)}
Result<std::vector<Operand>> selected(OpImport& op, ValueStore& store, graph::ValueRef condition, const std::vector<Operand>& yes,
                                      const std::vector<Operand>& no);

}  // namespace buda::frontend

#pragma GCC visibility pop
