// SPDX-License-Identifier: Apache-2.0
// Building of TensorFlow Lite models.
#include "tflite_model.hpp"

#include <algorithm>

namespace buda::test {

TfliteModel::TfliteModel() {
  model_.version = 3;
  model_.subgraphs.push_back(std::make_unique<tfl::SubGraphT>());
  model_.buffers.push_back(std::make_unique<tfl::BufferT>());
}

int TfliteModel::tensor(const std::string& name, const Dims& shape, tfl::TensorType type) {
  auto out = std::make_unique<tfl::TensorT>();
  out->name = name;
  out->shape = shape;
  out->type = type;
  graph().tensors.push_back(std::move(out));
  return static_cast<int>(graph().tensors.size()) - 1;
}

int TfliteModel::input(const std::string& name, const Dims& shape, tfl::TensorType type) {
  int out = tensor(name, shape, type);
  graph().inputs.push_back(out);
  return out;
}

int TfliteModel::variable(const std::string& name, const Dims& shape, tfl::TensorType type) {
  int out = tensor(name, shape, type);
  graph().tensors.back()->is_variable = true;
  return out;
}

TfliteModel& TfliteModel::output(int tensor) {
  graph().outputs.push_back(tensor);
  return *this;
}

int TfliteModel::constant(const std::string& name, const Dims& shape, const std::vector<float>& values) {
  return stored(name, shape, tfl::TensorType::FLOAT32, values);
}

int TfliteModel::constant(const std::string& name, const Dims& shape, const std::vector<std::int32_t>& values) {
  return stored(name, shape, tfl::TensorType::INT32, values);
}

int TfliteModel::bytes_constant(const std::string& name, const Dims& shape, tfl::TensorType type, const std::vector<std::uint8_t>& bytes) {
  int out = tensor(name, shape, type);
  auto buffer = std::make_unique<tfl::BufferT>();
  buffer->data = bytes;
  graph().tensors[static_cast<std::size_t>(out)]->buffer = static_cast<std::uint32_t>(model_.buffers.size());
  model_.buffers.push_back(std::move(buffer));
  return out;
}

TfliteModel& TfliteModel::scale(int tensor, std::vector<float> scales, std::vector<std::int64_t> zero_points, int axis) {
  auto q = std::make_unique<tfl::QuantizationParametersT>();
  q->scale = std::move(scales);
  q->zero_point = std::move(zero_points);
  q->quantized_dimension = axis;
  graph().tensors[static_cast<std::size_t>(tensor)]->quantization = std::move(q);
  return *this;
}

tfl::OperatorT& TfliteModel::op(tfl::BuiltinOperator code, const std::vector<int>& inputs, const std::vector<int>& outputs) {
  auto it =
      std::find_if(model_.operator_codes.begin(), model_.operator_codes.end(), [&](const auto& c) { return c->builtin_code == code; });
  auto index = static_cast<std::uint32_t>(it - model_.operator_codes.begin());
  if (it == model_.operator_codes.end()) {
    auto added = std::make_unique<tfl::OperatorCodeT>();
    added->builtin_code = code;
    added->deprecated_builtin_code = static_cast<std::int8_t>(std::min(static_cast<int>(code), 127));
    model_.operator_codes.push_back(std::move(added));
  }
  auto out = std::make_unique<tfl::OperatorT>();
  out->opcode_index = index;
  out->inputs.assign(inputs.begin(), inputs.end());
  out->outputs.assign(outputs.begin(), outputs.end());
  graph().operators.push_back(std::move(out));
  return *graph().operators.back();
}

std::string TfliteModel::bytes() const {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(tfl::Model::Pack(builder, &model_), tfl::ModelIdentifier());
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

}  // namespace buda::test
