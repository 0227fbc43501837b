// SPDX-License-Identifier: Apache-2.0
// The plan's transforms.
#include <buda/runtime/inputs/port_values.hpp>

#include <buda/ops/device/device_layout.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::runtime {

Result<Tensor> entries_of(const Port& port, const Tensor& value) { return host_plan::apply_transforms(value, port.tensor->transforms); }

Result<Tensor> value_of(const Port& port, const Tensor& entries) {
  BUDA_ASSIGN(Tensor value, host_plan::apply_transforms(entries, port.tensor->transforms));
  return ops::in_model_type(value, port.dtype);
}

}  // namespace buda::runtime
