// SPDX-License-Identifier: Apache-2.0
// Bodies of functions.
#include "function.hpp"

#include "definitions.hpp"
#include "op_table.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>

namespace buda::onnx_frontend {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::NodeProto;
using Attributes = std::map<std::string, const AttributeProto*>;

const FunctionProto* model_function(const Model& model, std::string_view domain, std::string_view op_type) {
  for (const auto& f : model.proto->functions())
    if (f.name() == op_type && (f.domain() == domain || (f.domain() == "ai.onnx" && domain == kDefaultDomain))) return &f;
  return nullptr;
}

const ::onnx::OpSchema* schema_with_function(std::string_view domain, std::string_view op_type, int opset) {
  if (domain != kDefaultDomain || !out_of_scope(domain, op_type).empty()) return nullptr;
  const auto* schema = definition(domain, op_type, opset);
  return schema != nullptr && !schema->deprecated() && (schema->HasFunction() || schema->HasContextDependentFunction()) ? schema : nullptr;
}

std::vector<::onnx::TypeProto> type_protos(const std::vector<std::optional<graph::ValueType>>& inputs) {
  std::vector<::onnx::TypeProto> out(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    auto& tensor = *out[i].mutable_tensor_type();
    tensor.set_elem_type(onnx_type_of(inputs[i]->dtype));
    tensor.mutable_shape();
    for (auto size : inputs[i]->shape) tensor.mutable_shape()->add_dim()->set_dim_value(size);
  }
  return out;
}

// An attribute of a body's node that refers to one of the function's gets its value; where that has none it goes.
void put_attributes_in(NodeProto& node, const Attributes& given) {
  std::vector<AttributeProto> kept;
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.ref_attr_name().empty()) {
      auto it = given.find(attribute.ref_attr_name());
      if (it == given.end()) continue;
      AttributeProto value = *it->second;
      value.set_name(attribute.name());
      kept.push_back(std::move(value));
      continue;
    }
    if (attribute.has_g())
      for (auto& inner : *attribute.mutable_g()->mutable_node()) put_attributes_in(inner, given);
    kept.push_back(attribute);
  }
  node.clear_attribute();
  for (auto& attribute : kept) *node.add_attribute() = std::move(attribute);
}

// An absent input of the function is absent wherever the body uses it.
void take_out(NodeProto& node, const std::set<std::string>& absent) {
  for (auto& input : *node.mutable_input())
    if (absent.count(input) != 0) input.clear();
  for (auto& attribute : *node.mutable_attribute())
    if (attribute.has_g())
      for (auto& inner : *attribute.mutable_g()->mutable_node()) take_out(inner, absent);
}

}  // namespace

bool has_function(const Model& model, std::string_view domain, std::string_view op_type, int opset) {
  return model_function(model, domain, op_type) != nullptr || schema_with_function(domain, op_type, opset) != nullptr;
}

Result<Function> function_of(const Model& model, const NodeProto& node, int opset,
                             const std::vector<std::optional<graph::ValueType>>& inputs) {
  auto body = std::make_shared<FunctionProto>();
  Attributes attributes;
  if (const FunctionProto* own = model_function(model, node.domain(), node.op_type())) {
    *body = *own;
  } else if (const auto* schema = schema_with_function(node.domain(), node.op_type(), opset)) {
    for (const auto& [name, attribute] : schema->attributes())
      if (!attribute.required && attribute.default_value.has_name()) attributes[name] = &attribute.default_value;
    if (schema->HasFunction()) {
      *body = *schema->GetFunction();
    } else {
      ::onnx::FunctionBodyBuildContextImpl context(node, type_protos(inputs));
      if (!schema->BuildContextDependentFunction(context, *body))
        return input_error("ON040", {}, "not supported for inputs of these types: ONNX has no function for them");
    }
  } else {
    return input_error("ON030", {}, "not read");
  }
  for (const auto& attribute : node.attribute()) attributes[attribute.name()] = &attribute;
  std::set<std::string> absent;
  for (int i = 0; i < body->input_size(); ++i)
    if (i >= node.input_size() || node.input(i).empty()) absent.insert(body->input(i));
  int index = 0;
  for (auto& inner : *body->mutable_node()) {
    if (inner.domain() == "ai.onnx") inner.clear_domain();
    if (inner.name().empty()) inner.set_name(cat(inner.op_type(), '_', index));
    ++index;
    put_attributes_in(inner, attributes);
    take_out(inner, absent);
  }
  Function out{std::move(body), opset};
  for (const auto& import : out.body->opset_import())
    if (import.domain() == kDefaultDomain || import.domain() == "ai.onnx") out.opset = static_cast<int>(import.version());
  return out;
}

}  // namespace buda::onnx_frontend
