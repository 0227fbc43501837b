// SPDX-License-Identifier: Apache-2.0
// ONNX models built in a test.
#include "onnx_model.hpp"

#include <cmath>

namespace buda::test {

using onnx::AttributeProto;

AttributeProto& OnnxNode::attribute(const std::string& name) {
  auto& a = *node_->add_attribute();
  a.set_name(name);
  return a;
}

OnnxNode& OnnxNode::integer(const std::string& name, std::int64_t value) {
  auto& a = attribute(name);
  a.set_type(AttributeProto::INT);
  a.set_i(value);
  return *this;
}

OnnxNode& OnnxNode::real(const std::string& name, float value) {
  auto& a = attribute(name);
  a.set_type(AttributeProto::FLOAT);
  a.set_f(value);
  return *this;
}

OnnxNode& OnnxNode::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  auto& a = attribute(name);
  a.set_type(AttributeProto::INTS);
  for (auto v : values) a.add_ints(v);
  return *this;
}

OnnxNode& OnnxNode::reals(const std::string& name, const std::vector<float>& values) {
  auto& a = attribute(name);
  a.set_type(AttributeProto::FLOATS);
  for (auto v : values) a.add_floats(v);
  return *this;
}

OnnxNode& OnnxNode::text(const std::string& name, const std::string& value) {
  auto& a = attribute(name);
  a.set_type(AttributeProto::STRING);
  a.set_s(value);
  return *this;
}

OnnxNode& OnnxNode::named(const std::string& name) {
  node_->set_name(name);
  return *this;
}

OnnxNode& OnnxNode::domain(const std::string& name) {
  node_->set_domain(name);
  return *this;
}

onnx::TensorProto& OnnxNode::tensor(const std::string& name) {
  auto& a = attribute(name);
  a.set_type(AttributeProto::TENSOR);
  return *a.mutable_t();
}

OnnxModel::OnnxModel(int opset) {
  proto_.set_ir_version(opset < 9 ? 3 : 7);
  proto_.set_producer_name("test");
  proto_.add_opset_import()->set_version(opset);
  graph().set_name("g");
}

OnnxModel& OnnxModel::input(const std::string& name, const std::vector<std::int64_t>& dims, int type) {
  auto& value = *graph().add_input();
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (auto size : dims) {
    auto& dim = *shape.add_dim();
    if (size >= 0)
      dim.set_dim_value(size);
    else if (size == -1)
      dim.set_dim_param("batch");
  }
  return *this;
}

OnnxModel& OnnxModel::output(const std::string& name) {
  auto& value = *graph().add_output();
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return *this;
}

OnnxModel& OnnxModel::output(const std::string& name, const std::vector<std::int64_t>& dims) {
  output(name);
  auto& shape = *graph().mutable_output(graph().output_size() - 1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (auto size : dims) shape.add_dim()->set_dim_value(size);
  return *this;
}

OnnxNode OnnxModel::node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  auto& node = *graph().add_node();
  node.set_op_type(op);
  for (const auto& name : inputs) node.add_input(name);
  for (const auto& name : outputs) node.add_output(name);
  return OnnxNode(node);
}

OnnxModel& OnnxModel::weight(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
  auto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (auto size : dims) tensor.add_dims(size);
  tensor.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  return *this;
}

OnnxModel& OnnxModel::whole(const std::string& name, const std::vector<std::int64_t>& values) {
  auto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (auto v : values) tensor.add_int64_data(v);
  return *this;
}

OnnxModel& OnnxModel::scalar(const std::string& name, float value) {
  auto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_float_data(value);
  return *this;
}

OnnxModel one_node(const std::string& op, const std::vector<std::vector<std::int64_t>>& inputs, int opset) {
  OnnxModel m(opset);
  std::vector<std::string> names;
  for (const auto& dims : inputs) {
    names.emplace_back(1, static_cast<char>('x' + names.size()));
    m.input(names.back(), dims);
  }
  m.node(op, names, {"out"});
  m.output("out");
  return m;
}

OnnxModel small_mlp() {
  auto pattern = [](std::size_t count, float phase) {
    std::vector<float> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(std::sin(phase + 1.7f * static_cast<float>(i)));
    return out;
  };
  OnnxModel m;
  m.input("x", {2, 6});
  m.weight("fc1.weight", {4, 6}, pattern(24, 0.1f)).weight("fc1.bias", {4}, pattern(4, 0.2f));
  m.weight("fc2.weight", {3, 4}, pattern(12, 0.3f)).weight("fc2.bias", {3}, pattern(3, 0.4f));
  m.node("Gemm", {"x", "fc1.weight", "fc1.bias"}, {"h"}).integer("transB", 1).named("fc1");
  m.node("Relu", {"h"}, {"r"});
  m.node("Gemm", {"r", "fc2.weight", "fc2.bias"}, {"z"}).integer("transB", 1).named("fc2");
  m.node("Softmax", {"z"}, {"probabilities"}).integer("axis", -1);
  m.output("probabilities", {2, 3});
  return m;
}

}  // namespace buda::test
