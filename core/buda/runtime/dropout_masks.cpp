// SPDX-License-Identifier: Apache-2.0
// A generator for each row, so that a row's mask does not depend on the batch that it stands in.
#include <buda/runtime/dropout_masks.hpp>

#include <buda/base/hash.hpp>
#include <buda/base/rng.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::runtime {
namespace {

Shape of_batches(const Port& port, std::int64_t batches) {
  Shape shape = port.shape;
  if (shape.rank() > 0) shape[0] *= batches;
  return shape;
}

}  // namespace

Tensor dropout_mask(const Port& mask, double ratio, std::int64_t batches, const MaskDraw& draw) {
  Shape shape = of_batches(mask, batches);
  const auto all = static_cast<std::size_t>(shape.volume().value_or(0));
  const std::size_t rows = shape.rank() == 0 ? 1 : std::max<std::size_t>(static_cast<std::size_t>(shape[0]), 1);
  const float kept = ratio < 1 ? static_cast<float>(1 / (1 - ratio)) : 0;
  std::vector<float> elements(all);
  for (std::size_t row = 0; row < rows; ++row) {
    Fnv1a key;
    key.add(mask.tensor->name).add(" ").add(std::to_string(draw.seed)).add(" ").add(std::to_string(draw.step)).add(" ");
    Rng rng(key.add(std::to_string(row)).value());
    for (std::size_t i = 0; i < all / rows; ++i) elements[row * (all / rows) + i] = rng.uniform() < ratio ? 0 : kept;
  }
  return Tensor(std::move(shape), std::move(elements)).cast(mask.dtype);
}

Tensor filled(const Port& port, double value, std::int64_t batches) {
  Shape shape = of_batches(port, batches);
  const auto all = static_cast<std::size_t>(shape.volume().value_or(0));
  return Tensor(std::move(shape), std::vector<double>(all, value)).cast(port.dtype);
}

}  // namespace buda::runtime
