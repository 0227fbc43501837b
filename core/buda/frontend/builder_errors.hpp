// SPDX-License-Identifier: Apache-2.0
// What a builder found wrong, to be said of the model's operator at hand.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

// Diagnostics from number `seen` on, which is moved behind the last one. Their messages no longer begin with the node, which is in
// Diagnostic::node.
std::vector<Diagnostic> new_errors(const ops::Builder& builder, std::size_t& seen);

}  // namespace buda::frontend

#pragma GCC visibility pop
