// SPDX-License-Identifier: Apache-2.0
// Importing and evaluating TensorFlow Lite models that a test builds.
#pragma once

#include "import_fixture.hpp"
#include "tflite_model.hpp"

#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace buda::test {

class Tflite : public ImportTest {
 protected:
  // The outputs by name for inputs in their order, each in its own element type.
  NamedTensors run_all(const TfliteModel& m, const std::vector<Tensor>& inputs, const std::vector<std::string>& dims = {}) {
    graph::Graph graph = imported(m.bytes(), dims);
    NamedTensors named;
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i)
      named.emplace(graph.node(graph.inputs()[i]).name(), inputs[i]);
    auto outputs = ops::evaluate_graph(graph, named);
    if (outputs) return std::move(outputs).value();
    ADD_FAILURE() << text_of(outputs.failure());
    return {};
  }
  // The one output.
  Tensor run(const TfliteModel& m, const std::vector<Tensor>& inputs, const std::vector<std::string>& dims = {}) {
    NamedTensors outputs = run_all(m, inputs, dims);
    return outputs.empty() ? Tensor() : outputs.begin()->second;
  }

  void set_option(const std::string& name, const std::string& value) { host_.plugin_options["frontend.tflite"].set(name, value); }

  // A model of one operator on float inputs of these shapes.
  static TfliteModel one_op(tfl::BuiltinOperator code, const std::vector<TfliteModel::Dims>& shapes, const TfliteModel::Dims& result) {
    TfliteModel m;
    std::vector<int> inputs;
    for (std::size_t i = 0; i < shapes.size(); ++i) inputs.push_back(m.input(cat("x", i), shapes[i]));
    int y = m.tensor("y", result);
    m.op(code, inputs, {y});
    m.output(y);
    return m;
  }
};

// The reference's scaling of integers, written once more with 128-bit products: x times the factor.
inline std::int32_t reference_scaled(std::int32_t x, double factor) {
  int shift = 0;
  auto multiplier = static_cast<std::int64_t>(std::round(std::frexp(factor, &shift) * 2147483648.0));
  // floor((x * 2^left * multiplier + half) / 2^31), then halves away from zero.
  __int128 product = static_cast<__int128>(x) * (std::int64_t{1} << std::max(shift, 0)) * multiplier;
  auto high = static_cast<std::int64_t>((product + (product >= 0 ? (1 << 30) : 1 - (1 << 30))) / (std::int64_t{1} << 31));
  double exact = static_cast<double>(high) / std::exp2(std::max(-shift, 0));
  return static_cast<std::int32_t>(std::round(exact));
}

inline std::uint8_t as_byte(int v) { return static_cast<std::uint8_t>(static_cast<std::int8_t>(v)); }

}  // namespace buda::test
