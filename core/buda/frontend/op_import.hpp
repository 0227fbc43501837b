// SPDX-License-Identifier: Apache-2.0
// One operator of a model while it becomes nodes of a graph: how these are called, and how it is refused.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::frontend {

// A frontend derives from it what its importers of operators work with; functions of this module need no more of an operator.
class OpImport {
 public:
  virtual ~OpImport() = default;
  // The builder, set to give the next node the operator's name; or, for a node on the way there, that name and a suffix.
  virtual ops::Builder& result() = 0;
  virtual ops::Builder& step(std::string_view suffix) = 0;
  // An input error that names the operator: "node 'fc1' (op type Gemm, …): reason".
  virtual Diagnostic refuse(std::string reason) const = 0;
};

}  // namespace buda::frontend

#pragma GCC visibility pop
