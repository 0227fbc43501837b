// The body of a fused op: what it does to each ublock, one sub-op after the other.
//
// A device op `fused_op` has the attribute `sub_ops`, a list of texts, each a sub-op in YAML's flow style with the keys of a netlist:
//
//   {name: p.sub, type: subtract, inputs: [input0, input1], output: dest}
//   {name: p.mul, type: multiply, inputs: [dest, input2], output: intermed0, attributes: {relu_en: true}}
//   {name: p, type: add, inputs: [intermed0, intermed0], pop: [intermed0], output: output}
//
// and `intermediates`, how many buffers in L1 its results wait in. `inputN` is input N of the op, after the edge's manipulations; `dest`
// the destination register, which only the next sub-op can read; `intermedN` a buffer, free again after the sub-op that pops it. All values
// have the shape of the op's result.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/attribute.hpp>
#include <buda/ops/op.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::ops {

inline constexpr std::string_view kFusedOp = "fused_op";
inline constexpr std::string_view kSubOps = "sub_ops";
inline constexpr std::string_view kIntermediates = "intermediates";
inline constexpr std::int64_t kMostIntermediates = 8;

struct FusedOperand {
  enum class Kind : std::uint8_t { input, intermed, dest, output };
  Kind kind = Kind::dest;
  std::int64_t index = 0;  // of inputs and intermediates
  friend bool operator==(const FusedOperand&, const FusedOperand&) = default;
};
std::string text(const FusedOperand& operand);  // "input0", "intermed1", "dest", "output"

struct FusedSubOp {
  std::string name;
  std::string type;  // a device op
  std::vector<FusedOperand> inputs;
  FusedOperand output;
  std::vector<FusedOperand> pop;
  graph::AttrMap attrs;  // of the device op
  friend bool operator==(const FusedSubOp&, const FusedSubOp&) = default;
};

struct FusedBody {
  std::vector<FusedSubOp> steps;
  std::int64_t intermediates = 0;
  friend bool operator==(const FusedBody&, const FusedBody&) = default;
};

// From the attributes of a fused op with `inputs` inputs. Checked is everything that can be told without shapes: that sub-ops are device
// ops with their attributes, that what they read was written before and is still there, and that the last one writes the output.
Result<FusedBody> read_fused_body(const graph::AttrMap& attrs, std::size_t inputs);
// The attributes that say the same.
graph::AttrMap fused_attrs(const FusedBody& body);

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
