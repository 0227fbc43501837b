// Values by name.
#include "values.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {

std::string graph_name(const std::string& onnx_name) {
  if (is_valid_utf8(onnx_name)) return onnx_name;
  std::string out = onnx_name;
  for (char& c : out)
    if (static_cast<unsigned char>(c) >= 0x80) c = '_';
  return out;
}

void Values::define(const std::string& name, graph::ValueRef computed) {
  values_[name] = std::make_shared<Value>(Value{.name = name, .ref = computed, .tensor = {}, .origin = {}});
}

void Values::define(const std::string& name, Tensor tensor, Role role, std::string origin) {
  values_[name] =
      std::make_shared<Value>(Value{.name = name, .ref = {}, .tensor = std::move(tensor), .role = role, .origin = std::move(origin)});
}

void Values::alias(const std::string& name, const std::string& of) { values_[name] = values_.at(of); }

void Values::define_failed(const std::string& name) { define(name, graph::ValueRef()); }

bool Values::failed(const std::string& name) const {
  auto it = values_.find(name);
  return it == values_.end() || (!it->second->ref.valid() && !it->second->tensor);
}

const Tensor* Values::tensor(const std::string& name) const {
  auto it = values_.find(name);
  return it == values_.end() || !it->second->tensor ? nullptr : &*it->second->tensor;
}

graph::ValueRef Values::ref(const std::string& name) {
  auto it = values_.find(name);
  if (it == values_.end()) return {};
  Value& value = *it->second;
  if (value.ref.valid() || !value.tensor) return value.ref;
  auto id = graph_->add(graph_->fresh_name(graph_name(value.name)),
                        std::string(value.role == Role::weight ? graph::kParameterOp : graph::kConstantOp));
  auto& node = graph_->node(id);
  node.outputs = {{.dtype = value.tensor->dtype(), .shape = value.tensor->shape(), .format = {}}};
  node.value = *value.tensor;
  node.origins = {{file_, graph_name(value.origin)}};
  value.ref = id;
  return value.ref;
}

}  // namespace buda::onnx_frontend
