// SPDX-License-Identifier: Apache-2.0
// The values of a random graph that is being grown, and what all families of random ops ask of them.
#pragma once

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::passes {

struct RandomValue {
  graph::ValueRef ref;
  Tensor tensor;
  double least = 0, most = 0, nearest_to_zero = 0;  // of a value in the pool
  bool is_input = false;
  const Shape& shape() const { return tensor.shape(); }
  std::size_t rank() const { return tensor.shape().rank(); }
};

// Values are computed as ops are made. What an op gives that is out of all proportion does not come into the pool; its node has no users
// then. An op that is refused fails the test: whoever makes ops knows what they take.
class RandomPool {
 public:
  RandomPool(std::uint64_t seed, const std::string& name) : rng_(seed), b_(name) {}

  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(pick(static_cast<std::size_t>(most - least + 1)));
  }
  bool chance(int percent) { return pick(100) < static_cast<std::size_t>(percent); }
  const RandomValue& any() { return values_[pick(values_.size())]; }
  // Newer values more often: graphs get deep.
  const RandomValue& recent() { return chance(60) ? values_[values_.size() - 1 - pick(std::min<std::size_t>(values_.size(), 3))] : any(); }
  // Of an axis: small and large, whole tiles and not.
  std::int64_t size();
  // Of the last three axes: the first of four is the batch.
  std::int64_t inner_axis(const RandomValue& x) { return -1 - static_cast<std::int64_t>(pick(std::min<std::size_t>(x.rank(), 3))); }
  Tensor numbers(const Shape& s, double least = -1, double most = 1);

  void add_input(const std::string& name, const Shape& shape);
  void add_outputs(std::size_t count);

  // A parameter or constant; not in the pool.
  RandomValue known(const Tensor& t);
  // An op's first result, of any element type; not in the pool. Nothing when the op was refused.
  std::optional<RandomValue> made(const char* op, const std::vector<RandomValue>& inputs, graph::AttrMap attrs = {});
  // Puts floats of good proportion into the pool.
  void keep(const std::optional<RandomValue>& value);

  void take(const char* op, const std::vector<RandomValue>& inputs, graph::AttrMap attrs = {}) { keep(made(op, inputs, std::move(attrs))); }
  void unary(const char* op, const RandomValue& x, graph::AttrMap attrs = {}) { take(op, {x}, std::move(attrs)); }
  void binary(const char* op, const RandomValue& x, const RandomValue& y);

  std::size_t ops() const { return ops_; }  // in the pool
  const RandomValue& newest() const { return values_.back(); }
  ops::Builder& builder() { return b_; }
  NamedTensors& inputs() { return inputs_; }

 private:
  void add(RandomValue value);

  Rng rng_;
  ops::Builder b_;
  std::vector<RandomValue> values_;
  NamedTensors inputs_;
  std::size_t ops_ = 0;
  int known_ = 0;
};

}  // namespace buda::passes
