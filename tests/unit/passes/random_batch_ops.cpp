// SPDX-License-Identifier: Apache-2.0
// What lets the elements of a batch meet: leading axes are transposed, reduced, repeated and selected from.
#include "random_ops.hpp"

#include <buda/tensor/tensor.hpp>

#include <numeric>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kMaxElements = 20000;

void transpose(RandomPool& pool, const RandomValue& x) {
  Dims perm(x.rank());
  std::iota(perm.begin(), perm.end(), 0);
  for (std::size_t i = x.rank(); i > 1; --i) std::swap(perm[i - 1], perm[pool.pick(i)]);
  pool.unary("transpose", x, {{"perm", perm}});
}

void reduce(RandomPool& pool, const RandomValue& x) {
  static constexpr const char* kOps[] = {"reduce_sum", "reduce_avg", "reduce_max"};
  Dims some;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (pool.chance(40)) some.push_back(static_cast<std::int64_t>(i));
  if (some.empty()) return;
  const char* op = kOps[pool.pick(std::size(kOps))];
  bool keep = some.size() + 2 > x.rank() || pool.chance(60);
  pool.unary(op, x, {{"dims", some}, {"keep_dims", keep}});
}

void slice(RandomPool& pool, const RandomValue& x, std::size_t axis) {
  std::int64_t size = x.shape()[axis], start = pool.between(0, size - 1);
  pool.unary("slice", x, {{"dims", Dims{static_cast<std::int64_t>(axis)}}, {"starts", Dims{start}}, {"stops", Dims{size}}});
}

void merge(RandomPool& pool, const RandomValue& x, std::size_t axis) {
  if (x.rank() < 3 || axis + 1 == x.rank()) return;
  Dims dims = x.shape().dims();
  dims[axis] *= dims[axis + 1];
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  pool.unary("reshape", x, {{"shape", dims}});
}

void repeat(RandomPool& pool, const RandomValue& x) {
  Dims wide = x.shape().dims();
  for (std::int64_t& size : wide)
    if (size == 1) size = pool.between(1, 3);
  if (*Shape(wide).volume() <= kMaxElements) pool.unary("broadcast", x, {{"shape", wide}});
}

}  // namespace

void batch_step(RandomPool& pool) {
  RandomValue x = pool.recent();
  std::size_t axis = pool.pick(x.rank());
  switch (pool.pick(6)) {
    case 0:
      return transpose(pool, x);
    case 1:
      return reduce(pool, x);
    case 2:
      return slice(pool, x, axis);
    case 3:
      if (*x.shape().volume() <= kMaxElements) pool.take("concatenate", {x, x}, {{"dim", static_cast<std::int64_t>(axis)}});
      return;
    case 4:
      return merge(pool, x, axis);
    default:
      return repeat(pool, x);
  }
}

}  // namespace buda::passes
