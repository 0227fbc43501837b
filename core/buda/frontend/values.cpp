// SPDX-License-Identifier: Apache-2.0
// Values by name.
#include <buda/frontend/values.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>

namespace buda::frontend {

std::string graph_name(const std::string& model_name) {
  if (is_valid_utf8(model_name)) return model_name;
  std::string out = model_name;
  for (char& c : out)
    if (static_cast<unsigned char>(c) >= 0x80) c = '_';
  return out;
}

Operand computed_value(std::string name, graph::ValueRef ref) {
  return std::make_shared<ModelValue>(ModelValue{.name = std::move(name), .ref = ref, .tensor = {}, .origin = {}});
}

Operand known_value(std::string name, Tensor tensor, Role role, std::string origin) {
  return std::make_shared<ModelValue>(
      ModelValue{.name = std::move(name), .ref = {}, .tensor = std::move(tensor), .role = role, .origin = std::move(origin)});
}

Operand sequence_value(std::string name, std::vector<Operand> elements) {
  Operand out = computed_value(std::move(name), {});
  out->sequence = std::make_shared<const std::vector<Operand>>(std::move(elements));
  return out;
}

bool failed(const Operand& value) { return value == nullptr || (!value->ref.valid() && !value->tensor && value->sequence == nullptr); }

ValueStore::ValueStore(graph::Graph& g, std::string model_file) : graph(&g), file(std::move(model_file)), known(g) {}

graph::ValueRef ValueStore::ref(const Operand& value) {
  if (value == nullptr) return {};
  if (value->ref.valid() || !value->tensor) return value->ref;
  auto id = graph->add(graph->fresh_name(graph_name(value->name)),
                       std::string(value->role == Role::weight ? graph::kParameterOp : graph::kConstantOp));
  auto& node = graph->node(id);
  node.outputs = {{.dtype = value->tensor->dtype(), .shape = value->tensor->shape(), .format = {}}};
  node.value = *value->tensor;
  node.origins = {{file, graph_name(value->origin)}};
  value->ref = id;
  return value->ref;
}

const Tensor* ValueStore::tensor(const Operand& value) {
  if (value == nullptr) return nullptr;
  return value->tensor ? &*value->tensor : known.find(value->ref);
}

void Values::define(const std::string& name, Tensor tensor, Role role, std::string origin) {
  define(name, known_value(name, std::move(tensor), role, std::move(origin)));
}

Operand Values::find(const std::string& name) const {
  for (const Values* scope = this; scope != nullptr; scope = scope->outer_)
    if (auto it = scope->values_.find(name); it != scope->values_.end()) return it->second;
  return nullptr;
}

}  // namespace buda::frontend
