// SPDX-License-Identifier: Apache-2.0
// Images in Python: what they are, and opening them.
#pragma once

#include <pybind11/pybind11.h>

namespace buda::python {

void declare_images(pybind11::module_& module);

}  // namespace buda::python
