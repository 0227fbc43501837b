// SPDX-License-Identifier: Apache-2.0
// Branches on data.
#include <buda/base/text.hpp>
#include <buda/frontend/selections.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>

namespace buda::frontend {
namespace {

Result<graph::ValueType> branch_type(const OpImport& op, const ValueStore& store, const Operand& value) {
  if (value->tensor) return graph::ValueType{.dtype = value->tensor->dtype(), .shape = value->tensor->shape(), .format = {}};
  if (const auto* type = store.graph->type(value->ref)) return *type;
  return op.refuse("a result of one of its branches has no type");
}

// One boolean, without axes so that it broadcasts to everything.
Result<graph::ValueRef> truth_of(OpImport& op, const ValueStore& store, graph::ValueRef condition) {
  const auto* type = store.graph->type(condition);
  if (type == nullptr) return op.refuse("its condition has no type");
  if (type->shape.volume() != 1) return op.refuse(cat("its condition is ", type->text(), "; a single boolean is needed"));
  const bool boolean = type->dtype == DType::boolean, scalar = type->shape.rank() == 0;
  if (!scalar) condition = op.step("condition.single").reshape(condition, Shape{});
  if (!boolean) condition = op.step("condition").op("cast", {condition}, {{"dtype", std::string(dtype_name(DType::boolean))}});
  return condition;
}

}  // namespace

Result<std::vector<Operand>> selected(OpImport& op, ValueStore& store, graph::ValueRef condition, const std::vector<Operand>& yes,
                                      const std::vector<Operand>& no) {
  if (yes.size() != no.size()) return op.refuse(cat("its branches have ", yes.size(), " and ", no.size(), " results"));
  BUDA_ASSIGN(const graph::ValueRef holds, truth_of(op, store, condition));
  std::vector<Operand> out;
  for (std::size_t i = 0; i < yes.size(); ++i) {
    if (yes[i] == no[i] || failed(yes[i]) || failed(no[i])) {
      out.push_back(failed(no[i]) ? no[i] : yes[i]);
      continue;
    }
    BUDA_ASSIGN(const auto a, branch_type(op, store, yes[i]));
    BUDA_ASSIGN(const auto b, branch_type(op, store, no[i]));
    if (a != b || yes[i]->narrow != no[i]->narrow) {
      Diagnostic d =
          op.refuse(cat("its condition is computed at run time, and result ", i, " is ", a.text(), " of one branch and ", b.text(),
                        " of the other; a chip computes both branches and takes one of two results, which must have one type"));
      d.hint = "fix the condition: with --value, if it depends on an input that only steers, else when the model is exported";
      return d;
    }
    const auto first = store.ref(yes[i]), second = store.ref(no[i]);
    auto& builder = i == 0 ? op.result() : op.step(cat("result.", i));
    out.push_back(computed_value(yes[i]->name, builder.op("where", {holds, first, second})));
    out.back()->narrow = yes[i]->narrow;
  }
  return out;
}

}  // namespace buda::frontend
