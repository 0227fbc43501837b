// SPDX-License-Identifier: Apache-2.0
// The axes of tensors on the device, with the batch apart or joined.
#include <buda/passes/lower/axes.hpp>

#include <buda/ops/device/device_layout.hpp>

namespace buda::passes {

Shape axes_of(const Shape& model, Batch batch) {
  Shape four = *ops::four_axes(model);
  return batch == Batch::joined ? Shape{1, four[0] * four[1], four[2], four[3]} : four;
}

Shape border_shape(const Shape& model, Batch batch) {
  if (batch == Batch::apart || model.rank() <= 3) return model;
  Shape four = axes_of(model, batch);
  return {four[1], four[2], four[3]};
}

}  // namespace buda::passes
