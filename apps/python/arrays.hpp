// SPDX-License-Identifier: Apache-2.0
// Tensors as NumPy arrays.
#pragma once

#include <buda/runtime/ports.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <vector>

namespace buda::python {

// A copy of an array's elements, or of what becomes one by numpy.asarray(); of a torch tensor those on its device, without its history.
Tensor tensor_of(pybind11::object value);
// A copy. NumPy has no bfloat16: such tensors become float32.
pybind11::array array_of(const Tensor& tensor);

NamedTensors tensors_of(const pybind11::dict& arrays);
pybind11::dict arrays_of(const NamedTensors& tensors);
// In the order of the ports: that of the model's outputs.
pybind11::dict arrays_of(const NamedTensors& tensors, const std::vector<runtime::Port>& ports);

}  // namespace buda::python
