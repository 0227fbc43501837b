// SPDX-License-Identifier: Apache-2.0
// The real number that stands for a quantised integer.
//
// An integer q is kept as a value x of F32 with q = x / scale + offset, limited to [least, most]. Scale, offset and limits are known
// numbers: an op that would apply them is made only where another op needs x without them, and often none is.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <functional>
#include <limits>
#include <optional>

namespace buda::passes {

struct RealValue {
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  graph::Edge x;
  double scale = 1;  // above 0
  double offset = 0;
  double least = -kNoLimit, most = kNoLimit;  // of the integer
  // The same integer, less its offset there, as a device holds it in Int8 (int8_products.hpp).
  std::optional<graph::Edge> int8 = std::nullopt;
  double int8_offset = 0;

  bool is_limited() const { return least != -kNoLimit || most != kNoLimit; }
};

// Whether the real number of a node's integer follows from those of its inputs: arithmetic, movements of data, and what quantises. Other
// ops look at the integers themselves, as indices or bits.
bool has_real_value(const graph::Graph& graph, const graph::Node& n);

// What the rules know of the values that they read.
struct RealInputs {
  std::function<RealValue(const graph::Edge&)> real;   // of an integer
  std::function<bool(const graph::Edge&)> is_weights;  // whether it depends on parameters and constants alone
  bool in_int8 = false;                                // whether a product in Int8 reads the node's integer
};

// Whether its limits are those that a value in Int8 has anyway, or wider.
bool leaves_int8(const RealValue& r, double int8_offset);
// With its limits applied.
RealValue limited(ops::Builder& b, RealValue r);

// Of a node with has_real_value(). `b` makes what is needed.
RealValue real_value(ops::Builder& b, const graph::Node& n, const RealInputs& in);

// Whether `n` makes ordinary floating-point numbers of quantised integers, its first input: a dequantize, or a cast.
bool leaves_integers(const graph::Graph& graph, const graph::Node& n);
// The result of such a node.
graph::Edge dequantized(ops::Builder& b, const graph::Node& n, const RealInputs& in);

// The integer itself, rounded: an op `quantize` of the type of the value that r stands for.
graph::ValueRef quantized(ops::Builder& b, const RealValue& r, DType type);

}  // namespace buda::passes
