// SPDX-License-Identifier: Apache-2.0
// What an operation is: its inputs and attributes, the rule for its result's type, its reference meaning and its cost.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/attribute.hpp>
#include <buda/graph/level.hpp>
#include <buda/graph/value_type.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

using graph::Attr;
using graph::AttrMap;
using graph::AttrType;
using graph::Level;
using graph::ValueType;

struct AttrDef {
  std::string name;
  AttrType type = AttrType::integer;
  std::optional<Attr> standard;  // the value when the attribute is absent; nothing: it must be there
  std::string doc;
  std::vector<std::string> choices;  // of a text; empty: any
};

struct OpDef;

// The attributes of a node as its definition types them, absent ones with their standard value. After check_attrs() each get succeeds; a
// name or type that the definition does not have gives an empty value. Integers serve where a real is asked for.
class Attrs {
 public:
  Attrs(const OpDef& def, const AttrMap& given) : def_(&def), given_(&given) {}
  bool has(std::string_view name) const { return given_->find(name) != given_->end(); }
  const OpDef& definition() const { return *def_; }
  const AttrMap& given() const { return *given_; }
  // As a value of `type`, which is the definition's type, or real where that is integer.
  Attr value(std::string_view name, AttrType type) const;
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;

 private:
  const Attr* get(std::string_view name) const;
  const OpDef* def_;
  const AttrMap* given_;
};

struct InferCall {
  std::span<const ValueType> inputs;  // as they arrive, after the edges' TMs
  Attrs attrs;
};

struct EvaluateCall;  // evaluate_call.hpp

inline constexpr std::uint32_t kAnyNumber = 0xffffffff;

// One operation at one level. Names at device level are those of netlists; an op that means the same at both levels has one definition for
// each, with the same name. Errors of `infer` and `evaluate` need no place or node: the caller adds them.
struct OpDef {
  std::string name;
  Level level = Level::tensor;
  std::string family;               // the file that defines it, and the heading under which it is documented
  std::string summary;              // one line; the formula where there is one
  std::vector<std::string> inputs;  // their names in order; with kAnyNumber the last stands for all that follow
  std::uint32_t least_inputs = 1;
  std::uint32_t most_inputs = 1;
  std::vector<AttrDef> attrs;
  Result<std::vector<ValueType>> (*infer)(const InferCall&) = nullptr;
  // The reference meaning: fp32 for floating-point types (fp64 for F64), exact for integers where an op takes them.
  Result<std::vector<Tensor>> (*evaluate)(const EvaluateCall&) = nullptr;
  // Floating-point operations, a multiplication and an addition counting two; 0 for data movement.
  double (*flops)(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs) = nullptr;

  // Mixed precision by level keeps its result in a 16-bit float where others become block floats (passes/formats/precision_rules.hpp).
  bool precise = false;

  const AttrDef* attr(std::string_view attr_name) const;
};

// Are these the definition's attributes? Every unknown, missing, ill-typed or impossible one is named, with a spelling hint.
Result<void> check_attrs(const OpDef& def, const AttrMap& given);

// The steps that every use of an op begins with: number of inputs, attributes, then the op's own rule.
Result<std::vector<ValueType>> infer(const OpDef& def, std::span<const ValueType> inputs, const AttrMap& attrs);
double flops(const OpDef& def, std::span<const ValueType> inputs, std::span<const ValueType> outputs, const AttrMap& attrs);

}  // namespace buda::ops

#pragma GCC visibility pop
