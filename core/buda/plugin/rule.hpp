// SPDX-License-Identifier: Apache-2.0
// Decompositions as formulas: for rules that are a function of the node and nothing else.
//
//   Term softsign(Rewrite& r) {
//     Term x = r.in(0);
//     return x * reciprocal(1 + abs(x));
//   }
//   registrar.add_decomposition(rule("softsign", "x / (1 + |x|)", {"softsign"}, {"abs", "add", "reciprocal", "multiply"}, softsign));
//
// A rule that walks the graph includes <buda/graph/graph.hpp>.
//
// What goes in and out is converted where the formula computes in another element type than the node: integers, booleans and
// 16-bit floats are computed with in F32.
//
// C++ does not say which side of a + or * is computed first, and the order of nodes should be the same with every compiler: of the two
// sides of an operator, and of the arguments of a function, at most one makes new nodes. Give the other one a name before.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/plugin/registry.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::plugin {

class Rewrite;

// A value of a formula. Numbers beside it become constants of its element type. After a failure formulas go on with invalid values.
struct Term {
  Rewrite* rewrite = nullptr;
  graph::Edge edge;
};

class Rewrite {  // wide because formulas read the replaced node through it, attribute by attribute
 public:
  Rewrite(graph::GraphEditor& editor, graph::NodeId id);

  // Of the node that is replaced, as it was.
  const graph::Graph& graph() const;
  const std::vector<graph::Edge>& inputs() const { return inputs_; }
  std::size_t count() const { return inputs_.size(); }
  const std::string& op_name() const { return op_; }
  const graph::ValueType& result() const { return result_; }
  const graph::ValueType& type(std::size_t input) const;
  std::int64_t integer(std::string_view attr) const { return attrs().integer(attr); }
  double real(std::string_view attr) const { return attrs().real(attr); }
  bool flag(std::string_view attr) const { return attrs().boolean(attr); }
  std::vector<std::int64_t> integers(std::string_view attr) const { return attrs().integers(attr); }
  std::vector<double> reals(std::string_view attr) const { return attrs().reals(attr); }
  std::string text(std::string_view attr) const { return attrs().text(attr); }
  std::vector<std::string> texts(std::string_view attr) const { return attrs().texts(attr); }
  // As they stand at the node, for the same op in another element type.
  const graph::AttrMap& given_attrs() const { return attrs_; }
  // The axis that an attribute names, counted from the front of input 0 (or of the given rank).
  std::int64_t axis(std::string_view attr) const;

  // An input in the element type in which the formula computes: F64 if the node's first floating-point input is, else F32.
  Term in(std::size_t input);
  // A result of the node, likewise, while the node is there: for gradients.
  Term result_of(std::uint32_t port);
  // An input as it is.
  Term raw(std::size_t input) { return {this, inputs_[input]}; }
  Term constant(const Tensor& tensor);  // converted to the formula's type
  Term constant_as_is(const Tensor& tensor);
  // The same from elements in row-major order, of the types that ops::Builder::constant() takes.
  template <class T>
  Term constant(const Shape& shape, std::vector<T> elements) {
    return noted(builder_.constant(shape, std::move(elements), compute_));
  }
  template <class T>
  Term constant_as_is(const Shape& shape, std::vector<T> elements) {
    return noted(builder_.constant(shape, std::move(elements)));
  }
  Term number(double value);
  Term op(std::string_view name, const std::vector<Term>& terms, graph::AttrMap attrs = {});
  Term reshape(const Term& x, const Shape& shape) { return op("reshape", {x}, {{"shape", shape.dims()}}); }
  // Whether the ops made from here on need all digits of F32, as integers and places do: they are then kept and computed in Float32
  // whatever the format of other values. At first so where the node gives integers, or compares them.
  void keep_exact(bool on) { exact_ = on; }
  // exact_cast, or nothing where it is of that type.
  Term exactly(const Term& x, DType dtype);
  Shape shape(const Term& x) const;
  DType dtype(const Term& x) const;
  DType compute_type() const { return compute_; }

  // Of all calls so far.
  Result<void> status() const { return builder_.status(); }
  // Puts y, converted to the node's element type, in the node's place.
  Result<void> finish(const Term& y);
  // For nodes of several results: one term for each, of its type.
  Result<void> finish_with(const std::vector<Term>& results);

 private:
  ops::Attrs attrs() const;
  Term noted(graph::ValueRef made);

  graph::GraphEditor& editor_;
  graph::NodeId id_;
  std::string op_;
  graph::AttrMap attrs_;
  std::vector<graph::Edge> inputs_;
  graph::ValueType result_;
  DType compute_ = DType::f32;
  bool exact_ = false;
  ops::Builder builder_;
};

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator*(const Term& a, double b);
Term operator+(double a, const Term& b);
Term operator-(double a, const Term& b);
Term operator*(double a, const Term& b);
Term operator-(const Term& a);
Term maximum(const Term& a, const Term& b);
Term exp(const Term& x);
Term log(const Term& x);
Term sqrt(const Term& x);
Term square(const Term& x);
Term reciprocal(const Term& x);
Term abs(const Term& x);
Term relu(const Term& x);
Term sigmoid(const Term& x);
Term tanh(const Term& x);
Term round(const Term& x);
Term clip(const Term& x, double least, double most);
Term reduce(std::string_view op, const Term& x, std::vector<std::int64_t> dims);  // keeps the axes

// x where `mask` is 1, and 0 where it is 0, whatever x is there: chips and the host take 0 times an infinity or NaN for 0 here.
Term masked(const Term& x, const Term& mask);
// a - b for whoever looks at the sign only: 0 for two infinities of one sign; a NaN is a number beyond the infinity of its sign.
Term difference(const Term& a, const Term& b);
// 1 where a > b, else 0, by two ops: a - b, clipped to [0, 1] before and after it is amplified by 2^127. Exact for infinities, which are
// numbers to the matrix unit, and wherever the difference is no denormal, which counts as 0. A NaN counts as a number beyond infinity.
Term above(const Term& a, const Term& b);
Term above(const Term& a, double b);
Term above(double a, const Term& b);
// 1 where x is not 0, else 0; as exact.
Term not_zero(const Term& x);
// -1, 0 or 1; as exact.
Term sign_of(const Term& x);
// Whether a value may hold a NaN where a chip can still see it: an input of the model, or a constant with one, moved perhaps. What a chip
// computes in 16 bits is never NaN, since packers make it an infinity.
bool may_hold_nan(const graph::Graph& graph, const graph::Edge& value);
// By three ops, above 2^120 where x is NaN, else at most 0: the matrix unit takes a NaN for a number beyond the infinity of its sign.
Term nan_excess(const Term& x);
// 0 where x is NaN, else 1.
Term is_number(const Term& x);
// Rounded down; as exact as the device's `round`, exact where |x| < 2^22.
Term floor_of(const Term& x);
// a / b as a division in fp32 would round it, where a quotient is rounded to an integer next and its last digit decides: a product with
// the reciprocal, corrected by what it leaves, which is computed without rounding. For quotients below 2^100.
Term exact_quotient(const Term& a, const Term& b);
// The ops that these make, for produces().
inline constexpr std::initializer_list<const char*> kComparisonOps = {"subtract", "multiply", "clip", "abs"};

enum class Takes : std::uint8_t { floats, anything };

struct RuleSpec {
  std::string name;
  std::string summary;
  std::vector<std::string> consumes;
  std::vector<std::string> produces;  // conversions need no mention
  Term (*build)(Rewrite&) = nullptr;
  Takes takes = Takes::floats;                                         // element types of all inputs
  bool (*matches)(const graph::Graph&, const graph::Node&) = nullptr;  // null: always
  int priority = 0;
  // For training: the gradients of the inputs, one for each, from those of the results; Term(): none. What was broadcast is summed by who
  // calls it. Null: OpenBuda's own, or that of what `build` makes.
  std::vector<Term> (*gradient)(Rewrite&, const std::vector<Term>& incoming) = nullptr;
};

// A rule of a formula for Registrar::add_decomposition().
Entry<passes::Decomposition> rule(RuleSpec spec);

}  // namespace buda::plugin

#pragma GCC visibility pop
