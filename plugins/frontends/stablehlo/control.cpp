// SPDX-License-Identifier: Apache-2.0
// Calls, branches and loops.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

std::vector<Value> operands(const OpCall& n, std::size_t from = 0) {
  std::vector<Value> out;
  for (std::size_t i = from; i < n.input_count(); ++i) out.push_back(n.value(i));
  return out;
}

Result<void> output_all(OpCall& n, std::vector<Value> values) {
  if (values.size() != n.result_count()) return n.refuse(cat("gives ", values.size(), " values, not ", n.result_count()));
  for (std::size_t i = 0; i < values.size(); ++i) n.output(std::move(values[i]), i);
  return success();
}

Result<void> call(OpCall& n) {
  BUDA_ASSIGN(std::vector<Value> results, n.call(n.text("callee"), operands(n)));
  return output_all(n, std::move(results));
}

// A composition of operations under a name, with a function that computes it.
Result<void> composite(OpCall& n) {
  BUDA_ASSIGN(std::vector<Value> results, n.call(n.text("decomposition"), operands(n)));
  return output_all(n, std::move(results));
}

// The body as often as the condition says; the condition may not depend on the model's inputs.
Result<void> loop(OpCall& n) {
  BUDA_TRY(n.expect_regions(2));
  std::vector<Value> values = operands(n);
  while (true) {
    BUDA_ASSIGN(std::vector<Value> made, n.run(0, values, false));
    if (made.size() != 1 || !made[0].is_tensor()) return n.refuse("its condition is no single value");
    BUDA_ASSIGN(Tensor condition, n.known(made[0], "condition"));
    if (condition.dtype() != DType::boolean || condition.size() != 1)
      return n.refuse(cat("its condition is ", condition.describe(), ", not a boolean"));
    if (condition.as<Boolean>()[0].byte == 0) break;
    BUDA_ASSIGN(values, n.run(1, std::move(values), false));
  }
  return output_all(n, std::move(values));
}

// Of two lists of values the first one where a condition holds.
Result<std::vector<Value>> chosen(OpCall& n, Ref condition, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return n.refuse("its branches give different numbers of values");
  std::vector<Value> out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_tensor() || !b[i].is_tensor()) {
      out.push_back(a[i]);
      continue;
    }
    const Ref re = n.op("where", {condition, n.ref(a[i].real), n.ref(b[i].real)});
    out.push_back(tensor_value(
        re, a[i].is_complex() && b[i].is_complex() ? n.op("where", {condition, n.ref(a[i].imaginary), n.ref(b[i].imaginary)}) : Ref()));
  }
  return out;
}

// With a known condition one branch; else both are computed, and one is chosen.
Result<void> branch(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_TRY(n.expect_regions(2));
  if (n.dtype(0) != DType::boolean || n.shape(0).volume() != 1) return n.refuse("its condition is no boolean");
  if (const Tensor* known = n.find_known(n.real(0))) {
    BUDA_ASSIGN(std::vector<Value> results, n.run(known->as<Boolean>()[0].byte != 0 ? 0 : 1, {}, false));
    return output_all(n, std::move(results));
  }
  BUDA_ASSIGN(std::vector<Value> first, n.run(0, {}, false));
  BUDA_ASSIGN(std::vector<Value> second, n.run(1, {}, false));
  BUDA_ASSIGN(std::vector<Value> results, chosen(n, n.real(0), first, second));
  return output_all(n, std::move(results));
}

Result<void> choice(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const std::size_t count = n.operation().regions.size();
  if (count == 0 || is_float(n.dtype(0)) || n.shape(0).volume() != 1) return n.refuse("has no branches, or its index is no integer");
  if (const Tensor* known = n.find_known(n.real(0))) {
    const std::int64_t index = known->cast(DType::i64).as<std::int64_t>()[0];
    // An index that has no branch means the last one.
    const std::size_t region = index < 0 || index >= static_cast<std::int64_t>(count) ? count - 1 : static_cast<std::size_t>(index);
    BUDA_ASSIGN(std::vector<Value> results, n.run(region, {}, false));
    return output_all(n, std::move(results));
  }
  BUDA_ASSIGN(std::vector<Value> results, n.run(count - 1, {}, false));
  const Number index{&n, n.real(0)};
  for (std::size_t i = 0; i + 1 < count; ++i) {
    BUDA_ASSIGN(std::vector<Value> made, n.run(i, {}, false));
    const Number is = equal(index, static_cast<double>(i));
    BUDA_ASSIGN(results, chosen(n, is.ref, made, results));
  }
  return output_all(n, std::move(results));
}

// Elementwise operations as a region.
Result<void> map(OpCall& n) {
  BUDA_TRY(n.expect_regions(1));
  if (n.input_count() == 0) return n.refuse("has no operands");
  BUDA_ASSIGN(std::vector<Value> results, n.run(0, operands(n), true));
  for (Value& v : results) v = of_parts(n, v, [&](Ref x) { return n.broadcast_to(x, n.shape(0)); });
  return output_all(n, std::move(results));
}

// Targets of custom calls that only mark a value.
constexpr std::string_view kMarks[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"};
constexpr std::string_view kTopK = "mhlo.topk";

// Others are found before (check.cpp), but where they have no result.
Result<void> custom_call(OpCall& n) {
  const std::string target = n.text("call_target_name");
  if (n.result_count() == 0) return success();
  if (target != kTopK) return output_all(n, operands(n));
  BUDA_TRY(n.expect_inputs(1, 1));
  const Attribute* attributes = n.attribute("mhlo.attributes");
  const auto* group = attributes == nullptr ? nullptr : attributes->as<Attributes>();
  if (group == nullptr) return n.refuse("its attributes are missing");
  BUDA_ASSIGN(std::int64_t k, n.integer_in(*group, "k", 0));
  const Ref values = n.op("topk", {n.real(0)}, {{"k", k}, {"dim", std::int64_t{-1}}});
  n.output(values);
  if (values.valid()) n.output(n.cast(Ref(values.node, 1), DType::i32), 1);
  return success();
}

Result<void> tuple(OpCall& n) {
  Value out;
  out.parts = operands(n);
  n.output(std::move(out));
  return success();
}

Result<void> tuple_element(OpCall& n) {
  BUDA_ASSIGN(std::int64_t index, n.integer("index"));
  if (n.input_count() != 1 || index < 0 || static_cast<std::size_t>(index) >= n.value(0).parts.size())
    return n.refuse("takes an element that its tuple has not");
  n.output(n.value(0).parts[static_cast<std::size_t>(index)]);
  return success();
}

Result<void> token(OpCall&) { return success(); }

constexpr OpImporter kControlOps[] = {
    {"func.call", call, Scope::elementwise},
    {"stablehlo.after_all", token},
    {"stablehlo.case", choice, Scope::whole, {}, "all branches are computed where the index is not known"},
    {"stablehlo.composite", composite, Scope::elementwise},
    {"stablehlo.create_token", token},
    {"stablehlo.custom_call",
     custom_call,
     Scope::whole,
     {},
     "Sharding, SPMDFullToShardShape, SPMDShardToFullShape, annotate_device_placement, mhlo.topk; others where they have no result"},
    {"stablehlo.get_tuple_element", tuple_element},
    {"stablehlo.if", branch, Scope::whole, {}, "both branches are computed where the condition is not known"},
    {"stablehlo.map", map},
    {"stablehlo.tuple", tuple},
    {"stablehlo.while", loop, Scope::whole, {}, "the condition known"},
};

}  // namespace

bool is_known_target(std::string_view target) {
  return target == kTopK || std::find(std::begin(kMarks), std::end(kMarks), target) != std::end(kMarks);
}

std::span<const OpImporter> control_ops() { return kControlOps; }

}  // namespace buda::stablehlo
