// SPDX-License-Identifier: Apache-2.0
// The body of a fused op: what it does to each ublock, one sub-op after the other.
//
// In memory it is the value of the attribute `sub_ops` of a node of type `fused_op` (SharedBody). A file has two attributes in its place:
// `sub_ops`, a list of texts, each a sub-op in YAML's flow style with the keys of a netlist,
//
//   {name: p.sub, type: subtract, inputs: [input0, input1], output: dest}
//   {name: p.mul, type: multiply, inputs: [dest, input2], output: intermed0, attributes: {relu_en: true}}
//   {name: p, type: add, inputs: [intermed0, intermed0], pop: [intermed0], output: output}
//
// and `intermediates`, how many buffers in L1 its results wait in. `inputN` is input N of the op, after the edge's manipulations; `dest`
// the destination register, which only the next sub-op can read; `intermedN` a buffer, free again after the sub-op that pops it. All values
// have the shape of the op's result. The texts are parsed when a graph is read, and nowhere else.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/attribute.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::graph {

inline constexpr std::string_view kFusedOp = "fused_op";
inline constexpr std::string_view kSubOps = "sub_ops";
inline constexpr std::string_view kIntermediates = "intermediates";

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
  AttrMap attrs;  // of the device op
  friend bool operator==(const FusedSubOp& a, const FusedSubOp& b) {
    return a.name == b.name && a.type == b.type && a.inputs == b.inputs && a.output == b.output && a.pop == b.pop &&
           same_attrs(a.attrs, b.attrs);
  }
};

struct FusedBody {
  std::vector<FusedSubOp> steps;
  std::int64_t intermediates = 0;
  friend bool operator==(const FusedBody&, const FusedBody&) = default;
};

// Attributes between their forms in memory and in a file. from_file checks the syntax of sub-ops, not what they mean
// (ops/device/fused_body.hpp); without `sub_ops` as a list of texts the attributes stay as they are. Values of attributes have the type
// that their text shows: 2 is an integer, also where the op takes a real.
Result<AttrMap> fused_attrs_from_file(AttrMap attrs);
AttrMap fused_attrs_for_file(const AttrMap& attrs);

// A sub-op as a file has it.
std::string text(const FusedSubOp& step);

}  // namespace buda::graph
