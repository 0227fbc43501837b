// SPDX-License-Identifier: Apache-2.0
// Shapes of inputs, as users give them.
#pragma once

#include <buda/plugin/model_source.hpp>

#include <pybind11/pybind11.h>

#include <map>
#include <string>

namespace buda::python {

// {"x": (1, 3, 224, 224), "tokens": ((7, 16), "I64")}.
std::map<std::string, plugin::InputShape> shapes_of(const pybind11::dict& given);

}  // namespace buda::python
