// SPDX-License-Identifier: Apache-2.0
// Growing graphs op by op from a pool of values.
#include "random_graphs.hpp"

#include <buda/tensor/tensor.hpp>

#include "random_ops.hpp"

#include <gtest/gtest.h>

namespace buda::passes {
namespace {

Shape any_shape(RandomPool& pool, bool many_axes) {
  Shape s;
  std::size_t rank = many_axes ? 3 + pool.pick(3) : 1 + pool.pick(4);
  for (std::size_t i = 0; i < rank; ++i) s.push_back(i + 2 < rank ? 1 + static_cast<std::int64_t>(pool.pick(3)) : pool.size());
  return s;
}

// [samples, channels, rows, columns], small enough for many ops.
Shape image_shape(RandomPool& pool) {
  static constexpr std::int64_t kChannels[] = {1, 2, 3, 4, 8, 33};
  return Shape{pool.between(1, 2), kChannels[pool.pick(std::size(kChannels))], pool.between(1, 11), pool.between(1, 11)};
}

void all_ops_step(RandomPool& pool) {
  switch (pool.pick(8)) {
    case 0:
    case 1:
    case 2:
      return basic_step(pool);
    case 3:
    case 4:
      return spatial_step(pool);
    case 5:
    case 6:
      return movement_step(pool);
    default:
      return selection_step(pool);
  }
}

void step(RandomPool& pool, RandomOps ops) {
  if (ops == RandomOps::all) return all_ops_step(pool);
  if (ops == RandomOps::batches && pool.chance(35)) return batch_step(pool);
  basic_step(pool);
}

}  // namespace

RandomGraph random_graph(std::uint64_t seed, RandomOps ops, std::int64_t rows) {
  RandomPool pool(seed, cat("random", seed));
  std::size_t inputs = 1 + pool.pick(3);
  for (std::size_t i = 0; i < inputs; ++i) {
    Shape shape = ops == RandomOps::all && pool.chance(60) ? image_shape(pool) : any_shape(pool, ops == RandomOps::batches);
    if (rows != 0) shape[0] = rows;
    pool.add_input(cat("x", i), shape);
  }
  std::size_t wanted = 3 + pool.pick(20);
  for (std::size_t i = 0; i < 8 * wanted && pool.ops() < wanted; ++i) step(pool, ops);
  RandomGraph out;
  pool.add_outputs(1 + pool.pick(3));
  auto graph = pool.builder().finish();
  if (!graph) {
    ADD_FAILURE() << graph.failure().diagnostics().front().message;
    return out;
  }
  out.graph = std::move(*graph);
  out.inputs = std::move(pool.inputs());
  return out;
}

}  // namespace buda::passes
