// SPDX-License-Identifier: Apache-2.0
// Values of a random graph and their numbers.
#include "random_pool.hpp"

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace buda::passes {

using graph::Edge;

namespace {

// Larger numbers than this lose what is added to them, and grow out of all bounds in a few more ops.
constexpr double kLargest = 100;
constexpr std::int64_t kRandomPoolMostElements = 40000;

}  // namespace

std::int64_t RandomPool::size() {
  static constexpr std::int64_t kSizes[] = {1, 2, 3, 5, 10, 31, 32, 33, 40, 64, 70};
  return kSizes[pick(std::size(kSizes))];
}

Tensor RandomPool::numbers(const Shape& s, double least, double most) {
  std::vector<float> v(static_cast<std::size_t>(*s.volume()));
  for (float& x : v) x = static_cast<float>(rng_.uniform(least, most));
  return Tensor(s, std::move(v));
}

void RandomPool::add(RandomValue value) {
  value.least = value.nearest_to_zero = 1e30;
  value.most = -1e30;
  for (float x : value.tensor.as<float>()) {
    value.least = std::min(value.least, static_cast<double>(x));
    value.most = std::max(value.most, static_cast<double>(x));
    value.nearest_to_zero = std::min(value.nearest_to_zero, std::abs(static_cast<double>(x)));
  }
  values_.push_back(std::move(value));
}

void RandomPool::add_input(const std::string& name, const Shape& shape) {
  // Now and then without zero, which the padding has all the same.
  Tensor t = chance(40) ? numbers(shape, 0.5, 2) : numbers(shape, -2, 2);
  inputs_.emplace(name, t);
  RandomValue input;
  input.ref = b_.input(name, shape);
  input.tensor = std::move(t);
  input.is_input = true;
  add(std::move(input));
}

void RandomPool::add_outputs(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    b_.output(cat("y", i), Edge(values_[values_.size() - 1 - pick(std::min<std::size_t>(values_.size(), 4))].ref));
}

RandomValue RandomPool::known(const Tensor& t) {
  RandomValue v;
  v.ref = chance(50) ? b_.parameter(cat("w", ++known_), t) : b_.named(cat("c", ++known_)).constant(t);
  v.tensor = t;
  return v;
}

std::optional<RandomValue> RandomPool::made(const char* op, const std::vector<RandomValue>& inputs, graph::AttrMap attrs) {
  std::vector<Edge> edges;
  std::vector<Tensor> tensors;
  for (const RandomValue& v : inputs) {
    edges.emplace_back(v.ref);
    tensors.push_back(v.tensor);
  }
  RandomValue out;
  out.ref = b_.op(op, std::move(edges), std::move(attrs));
  if (!out.ref.valid()) return std::nullopt;
  auto results = ops::evaluate_node(b_.graph().node(out.ref.node), graph::Level::tensor, tensors);
  if (!results) {
    ADD_FAILURE() << results.failure().diagnostics().front().message;
    return std::nullopt;
  }
  out.tensor = std::move(results->front());
  return out;
}

void RandomPool::keep(const std::optional<RandomValue>& value) {
  if (!value || value->tensor.dtype() != DType::f32) return;
  add(*value);
  const RandomValue& v = values_.back();
  if (!std::isfinite(v.least) || !std::isfinite(v.most) || std::max(-v.least, v.most) > kLargest) {
    values_.pop_back();
    return;
  }
  ++ops_;
}

void RandomPool::binary(const char* op, const RandomValue& x, const RandomValue& y) {
  if (!broadcast(x.shape(), y.shape()) || *broadcast(x.shape(), y.shape())->volume() > kRandomPoolMostElements) return;
  take(op, {x, y});
}

}  // namespace buda::passes
