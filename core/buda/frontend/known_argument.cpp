// SPDX-License-Identifier: Apache-2.0
// Arguments that must be known, and what to do about those that are not.
#include <buda/frontend/known_argument.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::frontend {
namespace {

// A value given with --value is the same in every run. That suits an input that only steers the model: shapes, axes, bounds and conditions
// are short lists or single numbers beside the data. An input that is the data must not be advised to be given so.
std::string hint_for_unknown(const graph::Graph& graph, const std::vector<std::string>& inputs) {
  constexpr std::int64_t kLongestArgument = 64;
  std::vector<std::string> data;
  for (const auto& name : inputs) {
    const Shape& shape = graph.node(graph.find(name)).outputs[0].shape;
    bool steers = shape.rank() <= 1 && shape.volume().value_or(kLongestArgument + 1) <= kLongestArgument;
    if (!steers || graph.inputs().size() == inputs.size()) data.push_back(name);
  }
  if (data.empty()) return cat("give the value of what it depends on: --value ", join(inputs, "=FILE --value "), "=FILE");
  return cat("it depends on the data of each run ('", join(data, "', '"), "'), and --value would fix ", data.size() == 1 ? "that" : "these",
             " for all runs; export the model with this part constant, or leave the node out and compute it before or after the model");
}

}  // namespace

Result<Tensor> known_argument(const OpImport& op, ValueStore& store, const Operand& value, std::string_view what) {
  if (const Tensor* tensor = store.tensor(value)) return *tensor;
  Diagnostic d = op.refuse(cat("its ", what, " is computed at run time; it must be constant"));
  if (value != nullptr)
    if (auto inputs = store.known.inputs_behind(value->ref); !inputs.empty()) {
      d.hint = hint_for_unknown(*store.graph, inputs);
      d.data.emplace_back("values", join(inputs, ","));
    }
  return d;
}

Result<std::vector<std::int64_t>> integers_of(const OpImport& op, const Tensor& argument, std::string_view what) {
  if (!is_integer(argument.dtype())) return op.refuse(cat("its ", what, " is ", argument.describe(), ", not a list of integers"));
  Tensor wide = argument.cast(DType::i64);
  auto elements = wide.as<std::int64_t>();
  return std::vector<std::int64_t>(elements.begin(), elements.end());
}

Result<std::int64_t> integer_of(const OpImport& op, const Tensor& argument, std::string_view what) {
  BUDA_ASSIGN(auto list, integers_of(op, argument, what));
  if (list.size() != 1) return op.refuse(cat("its ", what, " has ", list.size(), " elements, not one"));
  return list[0];
}

Result<double> number_of(const OpImport& op, const Tensor& argument, std::string_view what) {
  if (argument.size() != 1) return op.refuse(cat("its ", what, " is ", argument.describe(), ", not a single number"));
  return argument.cast(DType::f64).as<double>()[0];
}

Result<bool> truth_of(const OpImport& op, const Tensor& argument, std::string_view what) {
  if (argument.size() != 1) return op.refuse(cat("its ", what, " is ", argument.describe(), ", not a single boolean"));
  return static_cast<bool>(argument.cast(DType::boolean).as<Boolean>()[0]);
}

}  // namespace buda::frontend
