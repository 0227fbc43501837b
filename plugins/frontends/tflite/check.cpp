// What must hold before a model is turned into a graph: operators that are read, values that are computed before their users.
#include "model.hpp"
#include "op_table.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/unsupported.hpp>

#include <set>

namespace buda::tflite_frontend {
namespace {

void check_operators(const Model& model, Failure& failure) {
  frontend::UnsupportedOps found;
  for (const auto& op : model.operators)
    if (op.custom)
      found.add(op.type, cat("op type ", op.type, " (a custom operator)"),
                "custom operators are code outside of the file, and not supported", op.name);
    else if (find_importer(op.code) == nullptr)
      found.add(op.type, cat("op type ", op.type, " (version ", op.version, ')'), std::string(out_of_scope(op.code)), op.name);
  if (!found.empty()) failure.add(found.report(model.error("TF030", "")));
}

void check_order(const Model& model, Failure& failure) {
  std::set<std::int32_t> known(model.inputs.begin(), model.inputs.end()), computed;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    const auto& t = model.tensors[i];
    if (t.value || t.is_variable || !t.unreadable.empty()) known.insert(static_cast<std::int32_t>(i));
  }
  auto name = [&](std::int32_t tensor) { return model.tensors[static_cast<std::size_t>(tensor)].name; };
  for (const auto& op : model.operators) {
    for (auto input : op.inputs)
      if (input >= 0 && known.count(input) == 0)
        failure.add(node_error(model, op, "TF033", cat("its input '", name(input), "' is computed by no operator before it")));
    for (auto output : op.outputs) {
      if (!computed.insert(output).second)
        failure.add(node_error(model, op, "TF032", cat("computes '", name(output), "', which another operator computes too")));
      known.insert(output);
    }
  }
  if (model.outputs.empty()) failure.add(model.error("TF034", "the model has no output"));
  for (auto output : model.outputs)
    if (known.count(output) == 0) failure.add(model.error("TF034", cat("output '", name(output), "' is computed by no operator")));
}

}  // namespace

Result<void> check_model(const Model& model) {
  Failure failure;
  check_operators(model, failure);
  check_order(model, failure);
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::tflite_frontend
