// SPDX-License-Identifier: Apache-2.0
// Element types of NumPy and ours.
#include "apps/python/arrays.hpp"

#include "apps/python/toolchain.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <array>
#include <string>
#include <utility>

namespace py = pybind11;

namespace buda::python {
namespace {

constexpr std::array<std::pair<DType, const char*>, 12> kNames = {{{DType::boolean, "bool"},
                                                                   {DType::u8, "uint8"},
                                                                   {DType::i8, "int8"},
                                                                   {DType::u16, "uint16"},
                                                                   {DType::i16, "int16"},
                                                                   {DType::u32, "uint32"},
                                                                   {DType::i32, "int32"},
                                                                   {DType::u64, "uint64"},
                                                                   {DType::i64, "int64"},
                                                                   {DType::f16, "float16"},
                                                                   {DType::f32, "float32"},
                                                                   {DType::f64, "float64"}}};

const char* numpy_name(DType dtype) {
  for (const auto& [ours, name] : kNames)
    if (ours == dtype) return name;
  return nullptr;
}

}  // namespace

Tensor tensor_of(py::object value) {
  if (py::hasattr(value, "detach")) {
    value = value.attr("detach")().attr("cpu")();
    // NumPy has no such numbers.
    if (py::str(value.attr("dtype")).cast<std::string>() == "torch.bfloat16") value = value.attr("float")();
    value = value.attr("numpy")();
  }
  const py::module_ numpy = py::module_::import("numpy");
  // An array with a mask, whose masked elements have no value.
  if (py::hasattr(value, "mask") && py::hasattr(value, "filled") && numpy.attr("any")(value.attr("mask")).cast<bool>())
    throw py::type_error("an array has masked elements, and tensors have none: fill them first, array.filled(0)");
  // In row-major order and of this machine's byte order.
  py::array array = numpy.attr("ascontiguousarray")(numpy.attr("asarray")(value));
  const std::string name = py::str(py::object(array.dtype().attr("name")));
  for (const auto& [dtype, known] : kNames) {
    if (name != known) continue;
    if (!array.dtype().attr("isnative").cast<bool>()) array = array.attr("astype")(known);
    // ascontiguousarray makes a scalar one of rank 1.
    const py::object shape = numpy.attr("shape")(value);
    std::vector<std::int64_t> sizes;
    for (const auto& size : shape) sizes.push_back(size.cast<std::int64_t>());
    io::Bytes bytes(std::string(static_cast<const char*>(array.data()), static_cast<std::size_t>(array.nbytes())));
    return value_or_raise(Tensor::from_bytes(dtype, Shape(std::move(sizes)), std::move(bytes)));
  }
  throw py::type_error(cat("an array of ", name, " cannot be an input: tensors hold numbers and booleans"));
}

py::array array_of(const Tensor& tensor) {
  const char* name = numpy_name(tensor.dtype());
  if (name == nullptr) return array_of(tensor.cast(DType::f32));
  return py::array(py::dtype(name), std::vector<py::ssize_t>(tensor.shape().begin(), tensor.shape().end()), tensor.elements());
}

NamedTensors tensors_of(const py::dict& arrays) {
  NamedTensors out;
  for (const auto& [name, array] : arrays)
    out.insert_or_assign(name.cast<std::string>(), tensor_of(py::reinterpret_borrow<py::object>(array)));
  return out;
}

py::dict arrays_of(const NamedTensors& tensors) {
  py::dict out;
  for (const auto& [name, tensor] : tensors) out[py::str(name)] = array_of(tensor);
  return out;
}

py::dict arrays_of(const NamedTensors& tensors, const std::vector<runtime::Port>& ports) {
  py::dict out;
  for (const runtime::Port& port : ports)
    if (auto found = tensors.find(port.tensor->name); found != tensors.end()) out[py::str(found->first)] = array_of(found->second);
  for (const auto& [name, tensor] : tensors)
    if (!out.contains(name)) out[py::str(name)] = array_of(tensor);
  return out;
}

}  // namespace buda::python
