// SPDX-License-Identifier: Apache-2.0
// Bodies of fused ops (graph/fused_body.hpp): what makes one sound, and how to go through it.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/values/fused_body.hpp>
#include <buda/ops/table/op.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace buda::ops {

using graph::FusedBody;
using graph::FusedOperand;
using graph::FusedSubOp;
using graph::kFusedOp;

inline constexpr std::int64_t kMaxIntermediates = 8;

// Checks everything that can be told without shapes, for a fused op with `inputs` inputs: that sub-ops are device ops with their
// attributes, that what they read was written before and is still there, and that the last one writes the output.
Result<void> check_fused_body(const FusedBody& body, std::size_t inputs);

// The body among the attributes of a fused op with `inputs` inputs, checked.
Result<graph::SharedBody> fused_body(const graph::AttrMap& attrs, std::size_t inputs);

// The definition of the op, for the registry.
OpDef fused_op_definition();

// Goes through a sound body with something (types, tensors) in the place of values; `apply` gives the result of a sub-op.
template <class T>
Result<T> walk_fused(const FusedBody& body, std::span<const T> inputs,
                     const std::function<Result<T>(const FusedSubOp&, std::span<const T>)>& apply) {
  using Kind = FusedOperand::Kind;
  std::vector<T> buffers(static_cast<std::size_t>(body.intermediates));
  T dest{};
  for (const FusedSubOp& s : body.steps) {
    std::vector<T> arriving;
    for (const FusedOperand& o : s.inputs)
      arriving.push_back(o.kind == Kind::input      ? inputs[static_cast<std::size_t>(o.index)]
                         : o.kind == Kind::intermed ? buffers[static_cast<std::size_t>(o.index)]
                                                    : dest);
    auto result = apply(s, arriving);
    if (!result) {
      for (Diagnostic& d : result.failure().diagnostics()) d.message = "sub-op '" + s.name + "' (" + s.type + "): " + d.message;
      return result;
    }
    for (const FusedOperand& p : s.pop) buffers[static_cast<std::size_t>(p.index)] = T{};
    if (s.output.kind == Kind::output) return result;
    (s.output.kind == Kind::dest ? dest : buffers[static_cast<std::size_t>(s.output.index)]) = std::move(*result);
  }
  return internal_error("a fused op without an output");
}

}  // namespace buda::ops
