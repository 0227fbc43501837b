// SPDX-License-Identifier: Apache-2.0
// Einstein summation, against the sum over all labels that its definition is.
#include "operator.hpp"

#include <buda/frontend/einsum.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace buda::frontend {
namespace {

using ::testing::HasSubstr;
using Sizes = std::map<char, std::int64_t>;

Shape shape_of(const std::string& labels, const Sizes& sizes) {
  Shape out;
  for (char label : labels) out.push_back(sizes.at(label));
  return out;
}

std::size_t offset_of(const std::string& labels, const Sizes& sizes, const Sizes& at) {
  std::size_t out = 0;
  for (char label : labels) out = out * static_cast<std::size_t>(sizes.at(label)) + static_cast<std::size_t>(at.at(label));
  return out;
}

// Small integers, so that every order of summation gives the same floats.
Tensor numbers(const Shape& shape, int seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < *shape.volume(); ++i) values.push_back(static_cast<float>((i * 7 + seed * 3) % 11 - 5));
  return Tensor(shape, std::move(values));
}

std::vector<float> summed(const std::vector<std::string>& terms, const std::string& result, const Sizes& sizes,
                          const std::vector<Tensor>& values) {
  std::vector<float> out(static_cast<std::size_t>(*shape_of(result, sizes).volume()), 0.0f);
  std::int64_t places = 1;
  for (auto [label, size] : sizes) places *= size;
  for (std::int64_t place = 0; place < places; ++place) {
    Sizes at;
    std::int64_t rest = place;
    for (auto [label, size] : sizes) {
      at[label] = rest % size;
      rest /= size;
    }
    float product = 1;
    for (std::size_t i = 0; i < terms.size(); ++i) product *= values[i].as<float>()[offset_of(terms[i], sizes, at)];
    out[offset_of(result, sizes, at)] += product;
  }
  return out;
}

void expect_einsum(const std::vector<std::string>& terms, const std::string& result, const Sizes& sizes) {
  ops::Builder b("g");
  TestOperator op(b);
  std::vector<EinsumOperand> operands;
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    values.push_back(numbers(shape_of(terms[i], sizes), static_cast<int>(i)));
    operands.push_back({b.input(cat("x", i), values.back().shape()), values.back().shape()});
  }
  const std::string equation = cat(join(terms, ", "), " -> ", result);
  auto value = einsum(op, equation, operands);
  ASSERT_TRUE(value.ok()) << equation;
  b.output("y", *value);
  auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << equation;
  NamedTensors inputs;
  for (std::size_t i = 0; i < values.size(); ++i) inputs.emplace(cat("x", i), values[i]);
  auto outputs = ops::evaluate_graph(*graph, inputs);
  ASSERT_TRUE(outputs.ok()) << equation;
  auto got = outputs->at("y").as<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), summed(terms, result, sizes, values)) << equation;
}

TEST(Einsum, IsTheSumOverAllLabels) {
  const Sizes sizes = {{'i', 2}, {'j', 3}, {'k', 4}};
  expect_einsum({"ij", "jk"}, "ik", sizes);
  expect_einsum({"ij", "kj"}, "ki", sizes);
  expect_einsum({"ij"}, "ji", {{'i', 2}, {'j', 3}});
  expect_einsum({"ij"}, "", {{'i', 2}, {'j', 3}});
  expect_einsum({"ii"}, "i", {{'i', 3}});
  expect_einsum({"ij", "ij"}, "ij", {{'i', 2}, {'j', 3}});
  expect_einsum({"i", "j", "k"}, "ijk", sizes);
  expect_einsum({"bij", "bjk"}, "bik", {{'b', 2}, {'i', 3}, {'j', 4}, {'k', 5}});
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  ops::Builder b("g");
  TestOperator op(b);
  auto x = b.input("x", {2, 3});
  auto message = [&](std::string_view equation, std::vector<EinsumOperand> operands) {
    auto result = einsum(op, equation, operands);
    return result.ok() ? std::string() : result.failure().diagnostics()[0].message;
  };
  EXPECT_THAT(message("ij->ik", {{x, {2, 3}}}), HasSubstr("a label in its result"));
  EXPECT_THAT(message("ijk->i", {{x, {2, 3}}}), HasSubstr("names 3 axes of operand 0"));
  EXPECT_THAT(message("ii->i", {{x, {2, 3}}}), HasSubstr("one label for axes of sizes 2 and 3"));
  EXPECT_THAT(message("i1->i", {{x, {2, 3}}}), HasSubstr("which is no label"));
  EXPECT_THAT(message("ij,jk", {{x, {2, 3}}}), HasSubstr("names more operands"));
}

}  // namespace
}  // namespace buda::frontend
