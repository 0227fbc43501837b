// Batches between NumPy and the queues of a backend.
#pragma once

#include "apps/python/toolchain.hpp"

#include <buda/runtime/backend.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace buda::python {

// Without the interpreter's lock while they wait; `timeout` as of the backend's own functions.
void push_array(runtime::Backend& backend, const runtime::Port& input, pybind11::object batch, runtime::Timeout timeout,
                Environment& environment);
pybind11::array pop_array(runtime::Backend& backend, const runtime::Port& output, runtime::Timeout timeout, Environment& environment);
// The next batch, which stays in the queue.
pybind11::array get_array(runtime::Backend& backend, const runtime::Port& output, runtime::Timeout timeout, Environment& environment);

}  // namespace buda::python
