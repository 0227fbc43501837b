// SPDX-License-Identifier: Apache-2.0
// What ops mean: direct formulas on whole tensors in double precision, with bounds of the error that formats may add.
#pragma once

#include "array.hpp"
#include "bounds.hpp"

#include <buda/netlist/model/netlist.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace buda::judge {

struct Task {
  const netlist::Op& op;
  const netlist::FusedOp* fused = nullptr;
  std::vector<Array> inputs;  // after their manipulations
  Precision precision = Precision::exact;
  const Array* previous = nullptr;  // what a gradient op adds to
  double most_work = 1e8;           // multiplications of a product that are made, at least those of a row
};

// The op's output as its buffer holds it; or what is wrong with the task. Of very large products only some rows are computed, the errors
// of all others are infinite.
std::variant<Array, std::string> evaluate(const Task& task);

// The formulas that a fused op's steps share with ops. Results are those of the destination register, not yet packed.
struct Registers {
  Precision precision;
  DataFormat acc, intermed, out;
  netlist::MathFidelity fidelity;
  double most_work;
};
Array unary(netlist::OpType type, const netlist::OpAttributes& attributes, const Array& x, const Registers& r);
Array binary(netlist::OpType type, const Array& a, const Array& b, const Registers& r);
Array quantized(netlist::OpType type, double zero_point, const Array& x, const Array& scale);
// Sums groups of z matrices; `blocks` of the inner dimension are added up in a buffer of the intermediate format, where with `kept` the sum
// waits at last, too.
Array product(const Array& a, const Array& b, std::size_t z, std::size_t blocks, bool kept, const Registers& r);
Array reduced(netlist::Dim dim, std::size_t groups, const Array& x, const Registers& r);
void relu(const netlist::Relu& relu, Array& a);

Array fused(const Task& task);
std::variant<Array, std::string> sparse(const Task& task);

}  // namespace buda::judge
