// SPDX-License-Identifier: Apache-2.0
// Sequences of Python as shapes.
#include "apps/python/shapes.hpp"

#include <buda/base/text.hpp>

#include <pybind11/stl.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace buda::python {

std::map<std::string, plugin::InputShape> shapes_of(const py::dict& given) {
  std::map<std::string, plugin::InputShape> out;
  for (const auto& [key, value] : given) {
    plugin::InputShape shape;
    py::object sizes = py::reinterpret_borrow<py::object>(value);
    if (py::isinstance<py::sequence>(sizes) && py::len(sizes) == 2 && py::isinstance<py::str>(sizes[py::int_(1)])) {
      const auto name = sizes[py::int_(1)].cast<std::string>();
      shape.dtype = dtype_from_name(name);
      if (!shape.dtype)
        throw py::value_error(cat("input_shapes: there is no type '", name, "'; it is one of F32, F16, BF16, I64, I32, BOOL, …"));
      sizes = py::object(sizes[py::int_(0)]);
    }
    try {
      shape.shape = Shape(sizes.cast<std::vector<std::int64_t>>());
    } catch (const py::cast_error&) {
      throw py::type_error(
          cat("input_shapes: the shape of '", key.cast<std::string>(), "' is a tuple of sizes, or a tuple of sizes and a type"));
    }
    out.emplace(key.cast<std::string>(), std::move(shape));
  }
  return out;
}

}  // namespace buda::python
