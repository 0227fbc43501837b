// SPDX-License-Identifier: Apache-2.0
// Compiling and merging from Python.
#pragma once

#include <pybind11/pybind11.h>

namespace buda::python {

void declare_compiler(pybind11::module_& module);

}  // namespace buda::python
