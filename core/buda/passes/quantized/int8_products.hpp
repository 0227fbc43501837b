// SPDX-License-Identifier: Apache-2.0
// Products of a quantised model that a device can compute in its Int8, with sums in Int32.
//
// An integer q of 8 bits is held as s = q - offset, from -127 to 127. The Int8 of a device has one value less than the model's type: the
// largest is left out, since the least is the 0 of what follows a ReLU. What zero points add to the sums is known before the model runs,
// and goes into the bias; so does what is missing at the border of a convolution, where the device adds nothing.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/quantized/real_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {

// A product (I32 of centred integers, or floating-point of what `dequantize` gives), with its bias if an op adds one.
struct Int8Product {
  graph::NodeId product;
  graph::Edge integers;              // the operand of 8 bits
  std::vector<graph::NodeId> moves;  // what rearranges it before the product, the last one first
  double zero = 0;                   // the integer of it that stands for 0
  Shape weights_shape;               // a matrix as matmul takes it
  std::vector<float> weights;        // integers
  std::vector<float> bias;           // one for each column or channel, in units of the sums
  std::vector<float> scale;          // likewise: what the sums are multiplied with
};

// The tensor of a known value: of a parameter or constant, or what ops make of some. Nothing for others.
std::optional<Tensor> known_tensor(const graph::Graph& graph, const graph::Edge& edge, unsigned threads);

// Whether an op rearranges elements, of integers as of numbers: an edge of the device can often do that.
bool moves_alike(const graph::Node& n);
// Whether windows reach beyond what is convolved.
bool has_border(const graph::Node& convolution);

// The offset of a type of 8 bits.
double int8_offset(DType type);

class Int8Products {
 public:
  // `order`: all nodes, in topological order; `known`: by id, whether a node depends on parameters and constants alone.
  Int8Products(const graph::Graph& graph, std::span<const graph::NodeId> order, std::span<const char> known, unsigned threads);

  // The product that this node gives the sums of, bias included; null if it is none.
  const Int8Product* sums(graph::NodeId id) const;
  // Whether a product reads this integer of 8 bits, as it is or moved.
  bool reads(graph::NodeId id) const { return read_[id.index()] != 0; }
  // What was found: how many products, and why others are none.
  bool any() const { return !products_.empty(); }
  std::string note() const;

 private:
  std::map<graph::NodeId, Int8Product> products_;  // by the node with their sums
  std::map<std::string_view, std::size_t> left_;   // by reason
  std::vector<char> read_;
};

// The sums of such a product as real numbers, times its scale: int8_matmul or int8_conv2d with `dequantize`. `operand`: the value of
// `product.integers`.
graph::Edge int8_sums(ops::Builder& b, const Int8Product& product, const RealValue& operand, unsigned threads);

// Whether an op gives what int8_sums() made.
bool gives_int8_sums(const graph::Node& n);
// The same product with its results times `factors`, one or one for each channel, and with that zero point as an integer of 8 bits, if one
// is given.
graph::Edge rescaled_sums(ops::Builder& b, const graph::Node& sums, std::span<const float> factors, std::optional<double> zero);

}  // namespace buda::passes
