// SPDX-License-Identifier: Apache-2.0
// The part of the Python module openbuda that is C++.
#include "apps/python/backend.hpp"
#include "apps/python/compile.hpp"
#include "apps/python/graph.hpp"
#include "apps/python/image.hpp"
#include "apps/python/session.hpp"
#include "apps/python/toolchain.hpp"
#include "apps/python/training.hpp"

#include <pybind11/pybind11.h>

PYBIND11_MODULE(_native, module) {
  module.doc() = "Compile models for tile-grid chips, and run them without hardware.";
  module.attr("__version__") = BUDA_VERSION;
  buda::python::declare_error(module);
  buda::python::declare_compiler(module);
  buda::python::declare_graphs(module);
  buda::python::declare_sessions(module);
  buda::python::declare_backends(module);
  buda::python::declare_images(module);
  buda::python::declare_training(module);
}
