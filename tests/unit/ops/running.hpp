// SPDX-License-Identifier: Apache-2.0
// Running one op on small tensors and looking at what comes out.
#pragma once

#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/registry.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::ops {

inline Tensor f32(Shape shape, std::vector<float> elements) { return Tensor(std::move(shape), std::move(elements)); }
inline Tensor i64(Shape shape, std::vector<std::int64_t> elements) { return Tensor(std::move(shape), std::move(elements)); }
inline Tensor i32(Shape shape, std::vector<std::int32_t> elements) { return Tensor(std::move(shape), std::move(elements)); }

// 0, 1, 2, …
inline Tensor counting(Shape shape) {
  std::vector<float> elements(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  return Tensor(std::move(shape), std::move(elements));
}

using Ints = std::vector<std::int64_t>;

inline Result<Tensor> try_run(Level level, const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {},
                              unsigned threads = 1) {
  BUDA_ASSIGN(const OpDef* def, standard_ops().require(level, op));
  BUDA_ASSIGN(auto results, evaluate(*def, inputs, attrs, threads));
  return results.at(0);
}

inline Tensor run(const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {}, Level level = Level::tensor) {
  auto result = try_run(level, op, inputs, attrs);
  if (result) return *result;
  ADD_FAILURE() << op << ": " << result.failure().diagnostics().at(0).message;
  return Tensor();
}

inline Tensor run_device(const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {}) {
  return run(op, inputs, attrs, Level::device);
}

// Code and message of the first error.
inline std::string error_of(const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {},
                            Level level = Level::tensor) {
  auto result = try_run(level, op, inputs, attrs);
  if (result) return "no error";
  const Diagnostic& d = result.failure().diagnostics().at(0);
  return d.code + ": " + d.message;
}

// The elements of a result as a vector of their own.
template <class T>
std::vector<T> elements(const Tensor& t) {
  auto view = t.as<T>();
  return {view.begin(), view.end()};
}

inline void expect_near(const Tensor& actual, const Shape& shape, const std::vector<double>& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.shape(), shape) << actual.shape().text();
  auto values = actual.to_f32();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
}

}  // namespace buda::ops
