// SPDX-License-Identifier: Apache-2.0
// Which products run in Int8, and what they are made into: constants from weights and zero points, and one op each.
#include <buda/passes/quantized/int8_products.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using ops::Builder;

using Numbers = std::vector<float>;

constexpr double kMaxInteger = 127;

bool is_byte(DType t) { return t == DType::i8 || t == DType::u8; }

std::int64_t channel_groups_of(const Node& n) {
  auto it = n.attrs.find("groups");
  return it == n.attrs.end() ? 1 : std::get<std::int64_t>(it->second);
}

bool convolves(const Node& n) { return n.op() == "conv1d" || n.op() == "conv2d" || n.op() == "conv3d"; }

// A gemm that is a product of matrices plus a bias.
bool is_plain_gemm(const Node& n) {
  if (n.op() != "gemm") return false;
  const ops::Attrs attrs(*ops::standard_ops().find(graph::Level::tensor, "gemm"), n.attrs);
  return attrs.real("alpha") == 1 && attrs.real("beta") == 1 && !attrs.boolean("trans_a");
}

bool turns_weights(const Node& n) {
  auto it = n.attrs.find("trans_b");
  return n.op() == "gemm" && it != n.attrs.end() && std::get<bool>(it->second);
}

bool multiplies(const Node& n) { return convolves(n) || n.op() == "matmul" || is_plain_gemm(n); }

// A matrix with rows and columns exchanged.
Numbers exchanged(const Numbers& m, std::size_t rows) {
  Numbers out(m.size());
  const std::size_t columns = rows == 0 ? 0 : m.size() / rows;
  for (std::size_t i = 0; i < m.size(); ++i) out[i % columns * rows + i / columns] = m[i];
  return out;
}

// How many results have weights, and a scale, of their own.
std::size_t results_of(const Node& product) {
  const Shape& s = product.outputs[0].shape;
  return static_cast<std::size_t>(s[convolves(product) ? 1 : s.rank() - 1]);
}

// The integers of a product's weights and what they are multiplied with.
struct IntegerWeights {
  Numbers integers, scale;
};

bool fit_int8(const Numbers& numbers) {
  return std::ranges::all_of(numbers, [](float v) { return std::abs(v) <= kMaxInteger && v == std::round(v); });
}

class ProductFinder {
 public:
  ProductFinder(const Graph& g, std::span<const char> known, unsigned threads) : g_(g), known_(known), threads_(threads) {}

  // The product that node n is, or why it is none; an empty reason where it is not one of quantised integers.
  struct Found {
    std::optional<Int8Product> product;
    std::string_view reason;
  };
  Found look_at(const Node& n) const {
    const bool of_integers = n.outputs[0].dtype == DType::i32;
    if (!of_integers && !is_float(n.outputs[0].dtype)) return {};
    Int8Product p{.product = n.id()};
    Edge operand = n.inputs()[0];
    for (const Node* move = &g_.node(operand.source.node); !of_integers && moves_alike(*move); move = &g_.node(operand.source.node)) {
      p.moves.push_back(move->id());
      operand = move->inputs()[0];
    }
    if (!of_integers && g_.node(operand.source.node).op() != "dequantize") return {};
    if (n.op() == "conv1d" || n.op() == "conv3d") return {{}, "convolve one or three axes"};
    if (n.op() == "conv2d" && channel_groups_of(n) != 1) return {{}, "have channels in groups"};
    const Shape &a = g_.type(n.inputs()[0].source)->shape, &w = g_.type(n.inputs()[1].source)->shape;
    if (!convolves(n) && (a.rank() < 2 || w.rank() != 2)) return {{}, "have operands that are no matrices"};
    if (!is_known(n.inputs()[1])) return {{}, "have weights that are not known"};
    double scale = 1;
    if (!(of_integers ? centred_operand(operand, p) : dequantized_operand(operand, p, scale)))
      return {{}, "read integers of other than 8 bits"};
    auto weights = of_integers ? integer_weights(n) : dequantized_weights(n);
    if (!weights) return {{}, "have weights with scales that are not one for each result"};
    if (!fit_int8(weights->integers)) return {{}, "have weights beyond -127 to 127"};
    p.weights = std::move(weights->integers);
    p.weights_shape = turns_weights(n) ? Shape{w[1], w[0]} : w;
    p.scale = std::move(weights->scale);
    for (float& s : p.scale) s = static_cast<float>(s * scale);
    p.bias.assign(results_of(n), 0);
    if (n.inputs().size() > 2 && !add_bias(p, n.inputs()[2])) return {{}, "have a bias that is not one number for each result"};
    return {std::move(p), {}};
  }

  // The node with the sums of product n: the one that adds its bias, if nobody else reads the product. The bias becomes part of p.
  NodeId with_bias_behind(const Node& n, Int8Product& p) const {
    auto users = g_.users(n.id());
    if (n.op() != "matmul" || users.size() != 1) return n.id();
    const Node& add = g_.node(users[0].node);
    if (add.op() != "add" || add.outputs[0] != n.outputs[0]) return n.id();
    return add_bias(p, add.inputs()[1 - users[0].input]) ? add.id() : n.id();
  }

 private:
  bool is_known(const Edge& e) const { return known_[e.source.node.index()] != 0; }

  std::optional<double> number(const Edge& e) const {
    auto t = is_known(e) ? known_tensor(g_, e, threads_) : std::nullopt;
    return t ? uniform_element(*t) : std::nullopt;
  }

  // Behind conversions and the subtraction of the zero point.
  bool centred_operand(const Edge& edge, Int8Product& p) const {
    Edge at = edge;
    while (!is_byte(g_.type(at.source)->dtype)) {
      const Node& n = g_.node(at.source.node);
      if (!n.is_op() || n.outputs[0].dtype != DType::i32) return false;
      if (n.op() == "subtract") {
        auto zero = number(n.inputs()[1]);
        if (!zero || g_.type(n.inputs()[0].source)->shape != n.outputs[0].shape) return false;
        p.zero += *zero;
      } else if (n.op() != "cast") {
        return false;
      }
      at = n.inputs()[0];
    }
    p.integers = at;
    return !is_known(at);
  }

  bool dequantized_operand(const Edge& edge, Int8Product& p, double& scale) const {
    const Node& n = g_.node(edge.source.node);
    auto s = number(n.inputs()[1]), zero = number(n.inputs()[2]);
    if (!s || !zero || !(*s > 0) || !is_byte(g_.type(n.inputs()[0].source)->dtype)) return false;
    scale = *s;
    p.zero = *zero;
    p.integers = n.inputs()[0];
    return !is_known(p.integers);
  }

  // Of matrices as matmul takes them.
  std::optional<Numbers> weights_of(const Node& product) const {
    auto t = known_tensor(g_, product.inputs()[1], threads_);
    if (!t) return std::nullopt;
    return turns_weights(product) ? exchanged(t->to_f32(), static_cast<std::size_t>(t->shape()[0])) : t->to_f32();
  }

  std::optional<IntegerWeights> integer_weights(const Node& product) const {
    auto integers = weights_of(product);
    return integers ? std::optional(IntegerWeights{std::move(*integers), Numbers(results_of(product), 1)}) : std::nullopt;
  }

  // What `dequantize` gives, perhaps transposed: integers, and one scale for all or one for each result.
  std::optional<IntegerWeights> dequantized_weights(const Node& product) const {
    Edge at = product.inputs()[1];
    while (g_.node(at.source.node).op() == "transpose") at = g_.node(at.source.node).inputs()[0];
    const Node& n = g_.node(at.source.node);
    if (n.op() != "dequantize" || !is_byte(g_.type(n.inputs()[0].source)->dtype)) return std::nullopt;
    auto integers = weights_of(product);
    auto scale = known_tensor(g_, n.inputs()[1], threads_);
    if (!integers || !scale) return std::nullopt;
    const std::size_t columns = results_of(product);
    Numbers scales = scale->to_f32();
    if (scales.size() == 1) scales.assign(columns, scales[0]);
    if (scales.size() != columns || !std::ranges::all_of(scales, [](float s) { return s > 0 && std::isfinite(s); })) return std::nullopt;
    // Of a convolution's weights the first axis is that of the results, of a matrix the last.
    const std::size_t run = convolves(product) ? integers->size() / columns : 1;
    for (std::size_t i = 0; i < integers->size(); ++i) {
      float& integer = (*integers)[i];
      const float v = integer / scales[i / run % columns];
      integer = std::round(v);
      // Scales along the other axis give no integers.
      if (!(std::abs(v - integer) <= 1e-3f)) return std::nullopt;
    }
    return IntegerWeights{std::move(*integers), std::move(scales)};
  }

  bool add_bias(Int8Product& p, const Edge& edge) const {
    auto t = is_known(edge) ? known_tensor(g_, edge, threads_) : std::nullopt;
    if (!t || t->shape().rank() > 1) return false;
    Numbers bias = t->to_f32();
    if (bias.size() == 1) bias.assign(p.bias.size(), bias[0]);
    if (bias.size() != p.bias.size()) return false;
    for (std::size_t i = 0; i < bias.size(); ++i) p.bias[i] += std::round(bias[i] / p.scale[i]);
    return true;
  }

  const Graph& g_;
  std::span<const char> known_;
  unsigned threads_;
};

// Ops that hand on integers of 8 bits, or their differences with a number, to the product that reads them.
bool hands_on_integers(const Node& n) {
  return n.is_op() && is_integer(n.outputs[0].dtype) && (n.op() == "cast" || n.op() == "subtract" || n.op() == "clip" || moves_alike(n));
}

// The weights summed up for each result.
Numbers sums_of_weights(const Int8Product& p, bool matrix) {
  const std::size_t columns = p.bias.size(), run = matrix ? 1 : p.weights.size() / columns;
  std::vector<double> sums(columns, 0);
  for (std::size_t i = 0; i < p.weights.size(); ++i) sums[i / run % columns] += static_cast<double>(p.weights[i]);
  return {sums.begin(), sums.end()};
}

// The bias of sums of s * weights that makes them sums of (s - zero) * weights plus the model's bias.
Edge corrected_bias(Builder& b, const Int8Product& p, const Node& n, double zero, unsigned threads) {
  const Graph& g = b.graph();
  Numbers bias = p.bias;
  const auto columns = static_cast<std::int64_t>(bias.size());
  const bool matrix = !convolves(n);
  if (zero == 0 || matrix || !has_border(n)) {
    Numbers sums = sums_of_weights(p, matrix);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] -= static_cast<float>(zero * static_cast<double>(sums[i]));
    return b.named("int8.bias").constant(matrix ? Shape{columns} : Shape{1, columns, 1, 1}, std::move(bias));
  }
  Shape image = g.type(n.inputs()[0].source)->shape;
  image[0] = 1;
  Tensor zeros(image, Numbers(static_cast<std::size_t>(*image.volume()), static_cast<float>(zero)));
  Tensor weights(p.weights_shape, p.weights);
  const std::vector<Tensor> operands{std::move(zeros), std::move(weights)};
  auto covered = ops::evaluate(*ops::standard_ops().find(graph::Level::tensor, "conv2d"), operands, n.attrs, threads);
  if (!covered) return {};
  const Shape shape = (*covered)[0].shape();
  Numbers numbers = (*covered)[0].to_f32();
  const std::size_t places = numbers.size() / bias.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = bias[i / places] - numbers[i];
  return b.named("int8.bias").constant(shape, std::move(numbers));
}

}  // namespace

bool moves_alike(const Node& n) { return n.op() == "reshape" || n.op() == "transpose" || n.op() == "squeeze" || n.op() == "unsqueeze"; }

bool has_border(const Node& convolution) {
  auto it = convolution.attrs.find("padding");
  return it != convolution.attrs.end() &&
         std::ranges::any_of(std::get<std::vector<std::int64_t>>(it->second), [](std::int64_t v) { return v != 0; });
}

std::optional<Tensor> known_tensor(const Graph& g, const Edge& edge, unsigned threads) {
  if (const Tensor* t = value_of(g, edge)) return *t;
  const Node& n = g.node(edge.source.node);
  const ops::OpDef* def = n.is_op() ? ops::standard_ops().find(graph::Level::tensor, n.op()) : nullptr;
  if (def == nullptr || n.inputs().empty()) return std::nullopt;
  std::vector<Tensor> inputs;
  for (const Edge& input : n.inputs()) {
    auto t = known_tensor(g, input, threads);
    if (!t) return std::nullopt;
    inputs.push_back(std::move(*t));
  }
  auto results = ops::evaluate(*def, inputs, n.attrs, threads);
  if (!results) return std::nullopt;
  return std::move((*results)[edge.source.port]);
}

double int8_offset(DType type) { return type == DType::i8 ? -1 : kMaxInteger; }

Int8Products::Int8Products(const Graph& graph, std::span<const NodeId> order, std::span<const char> known, unsigned threads)
    : read_(graph.id_bound(), 0) {
  ProductFinder finder(graph, known, threads);
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    if (!n.is_op() || graph::on_host(n) || known[id.index()] != 0 || !multiplies(n)) continue;
    auto [product, reason] = finder.look_at(n);
    if (!reason.empty()) ++left_[reason];
    if (!product) continue;
    read_[product->integers.source.node.index()] = 1;
    const NodeId sums = finder.with_bias_behind(n, *product);
    products_.emplace(sums, std::move(*product));
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (const Node& n = graph.node(*it); read_[it->index()] != 0 && hands_on_integers(n))
      for (const Edge& edge : n.inputs()) read_[edge.source.node.index()] = 1;
}

const Int8Product* Int8Products::sums(NodeId id) const {
  auto it = products_.find(id);
  return it == products_.end() ? nullptr : &it->second;
}

std::string Int8Products::note() const {
  std::size_t all = products_.size();
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : left_) {
    all += count;
    reasons.push_back(cat(count, ' ', reason));
  }
  return cat(products_.size(), " of ", all, " products are computed in Int8",
             reasons.empty() ? "" : cat("; of the others ", join(reasons, ", ")));
}

Edge int8_sums(Builder& b, const Int8Product& p, const RealValue& operand, unsigned threads) {
  const Graph& g = b.graph();
  const Node& n = g.node(p.product);
  const bool is_there = operand.int8 && leaves_int8(operand, operand.int8_offset);
  const double offset = is_there ? operand.int8_offset : int8_offset(g.type(p.integers.source)->dtype);
  RealValue r = is_there || leaves_int8(operand, offset) ? operand : limited(b, operand);
  // s - zero is the centred integer of the model.
  Edge bias = corrected_bias(b, p, n, p.zero - offset, threads);
  Edge x = is_there ? *r.int8 : Edge(b.named("int8").op("to_int8", {r.x}, {{"scale", 1 / r.scale}, {"zero_point", r.offset - offset}}));
  for (auto move = p.moves.rbegin(); move != p.moves.rend(); ++move)
    x = b.named("int8.moved").op(g.node(*move).op(), {x}, g.node(*move).attrs);
  Edge weights = b.named("int8.weights").constant(p.weights_shape, p.weights);
  Edge scale = b.named("int8.scale").constant(Shape{static_cast<std::int64_t>(p.scale.size())}, p.scale);
  graph::AttrMap attrs = convolves(n) ? n.attrs : graph::AttrMap();
  attrs["dequantize"] = true;
  return b.named("int8.sums").op(convolves(n) ? "int8_conv2d" : "int8_matmul", {x, weights, bias, scale}, std::move(attrs));
}

bool gives_int8_sums(const Node& n) {
  if (n.op() != "int8_matmul" && n.op() != "int8_conv2d") return false;
  auto it = n.attrs.find("dequantize");
  return it != n.attrs.end() && std::get<bool>(it->second);
}

Edge rescaled_sums(Builder& b, const Node& sums, std::span<const float> factors, std::optional<double> zero) {
  std::vector<Edge> inputs = sums.inputs();
  graph::AttrMap attrs = sums.attrs;
  std::string op = sums.op();
  Numbers scale = value_of(b.graph(), inputs[3])->to_f32();
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] *= factors[factors.size() == 1 ? 0 : i];
  if (zero) {
    attrs["dequantize"] = false;
    attrs["zero_point"] = *zero;
  }
  const Shape shape{static_cast<std::int64_t>(scale.size())};
  inputs[3] = b.named("int8.scale").constant(shape, std::move(scale));
  return b.named(zero ? "int8" : "real.product").op(op, std::move(inputs), std::move(attrs));
}

}  // namespace buda::passes
