// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite models built in a test.
#pragma once

#include <schema_objects.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace buda::test {

namespace tfl = tflite_format;

//   TfliteModel m;
//   int x = m.input("x", {1, 4});
//   int y = m.tensor("y", {1, 4});
//   m.op(tfl::BuiltinOperator::RELU, {x}, {y});
//   m.output(y);
class TfliteModel {
 public:
  using Dims = std::vector<std::int32_t>;

  TfliteModel();

  int tensor(const std::string& name, const Dims& shape, tfl::TensorType type = tfl::TensorType::FLOAT32);
  int input(const std::string& name, const Dims& shape, tfl::TensorType type = tfl::TensorType::FLOAT32);
  TfliteModel& output(int tensor);
  // A state, which operators change.
  int variable(const std::string& name, const Dims& shape, tfl::TensorType type = tfl::TensorType::FLOAT32);
  int constant(const std::string& name, const Dims& shape, const std::vector<float>& values);
  int constant(const std::string& name, const Dims& shape, const std::vector<std::int32_t>& values);
  int bytes_constant(const std::string& name, const Dims& shape, tfl::TensorType type, const std::vector<std::uint8_t>& bytes);
  TfliteModel& scale(int tensor, std::vector<float> scales, std::vector<std::int64_t> zero_points = {0}, int axis = 0);

  // With the options' type as a template argument: m.op(code, {x}, {y}, tfl::SoftmaxOptionsT{…}).
  tfl::OperatorT& op(tfl::BuiltinOperator code, const std::vector<int>& inputs, const std::vector<int>& outputs);
  template <class Options>
  tfl::OperatorT& op(tfl::BuiltinOperator code, const std::vector<int>& inputs, const std::vector<int>& outputs, Options options) {
    auto& out = op(code, inputs, outputs);
    out.builtin_options.Set(std::move(options));
    return out;
  }

  tfl::ModelT& model() { return model_; }
  // The subgraph that is being built: the first one, unless another was selected.
  tfl::SubGraphT& graph() { return *model_.subgraphs[selected_]; }
  void select_subgraph(std::size_t i) { selected_ = i; }
  std::string bytes() const;

 private:
  template <class T>
  int stored(const std::string& name, const Dims& shape, tfl::TensorType type, const std::vector<T>& values) {
    std::vector<std::uint8_t> raw(values.size() * sizeof(T));
    if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
    return bytes_constant(name, shape, type, raw);
  }

  tfl::ModelT model_;
  std::size_t selected_ = 0;
};

}  // namespace buda::test
