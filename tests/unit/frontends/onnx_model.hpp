// SPDX-License-Identifier: Apache-2.0
// ONNX models built in a test.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace buda::test {

// A node with a way to say its attributes: m.node("Gemm", {"x", "w"}, {"y"}).integer("transB", 1).
class OnnxNode {
 public:
  explicit OnnxNode(onnx::NodeProto& node) : node_(&node) {}
  OnnxNode& integer(const std::string& name, std::int64_t value);
  OnnxNode& real(const std::string& name, float value);
  OnnxNode& integers(const std::string& name, const std::vector<std::int64_t>& values);
  OnnxNode& reals(const std::string& name, const std::vector<float>& values);
  OnnxNode& text(const std::string& name, const std::string& value);
  OnnxNode& named(const std::string& name);
  OnnxNode& domain(const std::string& name);
  onnx::TensorProto& tensor(const std::string& name);

 private:
  onnx::AttributeProto& attribute(const std::string& name);
  onnx::NodeProto* node_;
};

class OnnxModel {
 public:
  explicit OnnxModel(int opset = 13);

  // A negative size is written as the symbolic dimension "batch", and -2 as one without name or value.
  OnnxModel& input(const std::string& name, const std::vector<std::int64_t>& dims, int type = onnx::TensorProto::FLOAT);
  OnnxModel& output(const std::string& name);
  OnnxModel& output(const std::string& name, const std::vector<std::int64_t>& dims);
  OnnxNode node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  // As raw_data.
  OnnxModel& weight(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values);
  OnnxModel& whole(const std::string& name, const std::vector<std::int64_t>& values);
  OnnxModel& scalar(const std::string& name, float value);

  onnx::ModelProto& proto() { return proto_; }
  onnx::GraphProto& graph() { return *proto_.mutable_graph(); }
  std::string bytes() const { return proto_.SerializeAsString(); }

 private:
  onnx::ModelProto proto_;
};

// A model of one node: inputs "x", "y", … of the given shapes, output "out".
OnnxModel one_node(const std::string& op, const std::vector<std::vector<std::int64_t>>& inputs, int opset = 13);

// 784 features are too many for a test; 6-4-3 with Gemm, Relu, Softmax and random-looking weights.
OnnxModel small_mlp();

}  // namespace buda::test
