// SPDX-License-Identifier: Apache-2.0
// One op that exact-integers looks at, and what the rules for ops of integers have at hand.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/table/op.hpp>
#include <buda/passes/integers/numbers.hpp>
#include <buda/passes/integers/wholes.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {

// An argument of a rounding is looked at over that many ops.
inline constexpr std::size_t kMaxArgumentOps = 32;

bool is_rounding(const graph::Node& n);
bool is_elementwise(const graph::Node& n);
bool is_comparison(const graph::Node& n);  // equal, less, greater, and or equal
// Ops whose integers are those of quantised models, which have passes and options of their own.
bool is_quantised(const graph::Node& n);

// What becomes of the op. `host`: the device would not compute it exactly.
enum class Exactness { stays, rewritten, host };

class IntegerStep {  // wide because rules read op, ranges and digits through it
 public:
  IntegerStep(graph::Graph& graph, graph::NodeId id, const ExactLimits& limits, Wholes& wholes);

  // ---- the op
  const graph::Graph& graph() const { return graph_; }
  const graph::Node& node() const { return graph_.node(id_); }
  ops::Attrs attrs() const;
  std::size_t count() const { return node().inputs().size(); }
  graph::ValueRef in(std::size_t i) const { return node().inputs()[i].source; }
  const graph::ValueType& type(std::size_t i) const { return *graph_.type(in(i)); }
  const graph::ValueType& result() const { return node().outputs[0]; }
  const ExactLimits& limits() const { return limits_; }
  // An integer or boolean, of which `wholes` knows something.
  bool is_whole(std::size_t i) const { return !is_float(type(i).dtype); }
  bool is_integer_input(std::size_t i) const { return is_integer(type(i).dtype); }
  bool is_known(std::size_t i) const;

  // ---- ranges and digits
  IntegerRange range(std::size_t i) const { return wholes_.range(in(i)); }
  // Elementwise ops of fewer rows than the result copy theirs by a product.
  bool is_spread(std::size_t i) const;
  bool is_operand(std::size_t i) const { return is_spread(i) ? is_factor(i) : wholes_.is_operand(in(i)); }
  bool is_factor(std::size_t i) const { return wholes_.is_factor(in(i)); }
  bool is_held(std::size_t i) const { return is_spread(i) ? is_moved(i) : wholes_.is_held(in(i)); }
  bool is_moved(std::size_t i) const { return wholes_.is_moved(in(i)); }
  bool has_digits(std::size_t i) const { return wholes_.digits(in(i)) != nullptr; }
  bool can_split(std::size_t i) const { return wholes_.can_split(in(i)); }
  bool can_split(std::size_t i, const IntegerRange& range) const { return wholes_.can_split(in(i), range); }
  Digits split(std::size_t i, ops::Builder& b) { return wholes_.split(in(i), b); }
  // Of an operand that can be split.
  Number number(std::size_t i, NumberBuilder& n);
  // The integer that a float operand is equal to, if that is known.
  const EqualInteger* equal(std::size_t i) const { return wholes_.equal(in(i)); }
  void note_equal(graph::ValueRef number, const EqualInteger& whole) { wholes_.note(number, whole); }
  EqualInteger integer(std::size_t i) const;
  // Whether nobody but the host and floating-point ops reads the result.
  bool ends_here() const;

  // ---- what becomes of it
  // Notes the range of a result.
  void say(const IntegerRange& range, std::uint32_t port = 0) { wholes_.note({id_, port}, range); }
  Exactness stays(const IntegerRange& range) {
    say(range);
    return Exactness::stays;
  }
  Exactness host(const IntegerRange& range) {
    say(range);
    return Exactness::host;
  }
  // The host, for another reason than the size of numbers: "since …".
  Exactness host(const IntegerRange& range, std::string reason) {
    reason_ = std::move(reason);
    return host(range);
  }
  const std::string& reason() const { return reason_; }
  // Replaces the op by what `make` builds; an error of the builder comes out of finish().
  Exactness by_value(const IntegerRange& range, const std::function<graph::ValueRef(ops::Builder&)>& make);
  Exactness by_digits(const IntegerRange& range, const std::function<Digits(ops::Builder&, DigitBuilder&)>& make);
  Exactness by_number(const IntegerRange& range, const std::function<Number(NumberBuilder&)>& make);
  // The same for an op of two results, the first of which may have digits.
  Exactness by_pair(const IntegerRange& first, const IntegerRange& second,
                    const std::function<std::pair<Digits, graph::ValueRef>(ops::Builder&, DigitBuilder&)>& make);
  // Puts the digits of an operand, which are not negative, in the operand's place.
  void set_digits(std::size_t i, const std::function<Digits(ops::Builder&, DigitBuilder&)>& make);
  // The op with its operands in the other order.
  void swap_operands();

  Result<void> finish() { return std::move(outcome_); }

 private:
  graph::Graph& graph_;
  graph::NodeId id_;
  ExactLimits limits_;
  Wholes& wholes_;
  Result<void> outcome_ = success();
  std::string reason_;
};

// The rule for an op; null where ops are left alone that only move, or have no integers.
using IntegerRule = Exactness (*)(IntegerStep&);
struct NamedIntegerRule {
  std::string_view op;
  IntegerRule rule;
};

// In rules_*.cpp.
const std::vector<NamedIntegerRule>& elementwise_integer_rules();
const std::vector<NamedIntegerRule>& comparison_integer_rules();
const std::vector<NamedIntegerRule>& conversion_integer_rules();
const std::vector<NamedIntegerRule>& bit_integer_rules();
const std::vector<NamedIntegerRule>& division_integer_rules();
const std::vector<NamedIntegerRule>& movement_integer_rules();
const std::vector<NamedIntegerRule>& index_integer_rules();
const std::vector<NamedIntegerRule>& reduction_integer_rules();
// The value in another type that holds all its elements.
graph::ValueRef converted(ops::Builder& b, graph::ValueRef x, DType type);
// Elements of a shape; of one whose volume is not known the largest number.
std::int64_t elements_of(const Shape& shape);
// For all others: integers that are small enough are read, larger ones are not.
Exactness any_other_op(IntegerStep& s);

}  // namespace buda::passes
