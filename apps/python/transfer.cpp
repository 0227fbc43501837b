// Batches between NumPy and the queues of a backend.
#include "apps/python/transfer.hpp"

#include "apps/python/arrays.hpp"

#include <buda/tensor/tensor.hpp>

namespace py = pybind11;

namespace buda::python {

void push_array(runtime::Backend& backend, const runtime::Port& input, py::object batch, runtime::Timeout timeout,
                Environment& environment) {
  const Tensor values = tensor_of(std::move(batch));
  without_lock(environment, [&] { return backend.push(input, values, timeout); });
}

py::array pop_array(runtime::Backend& backend, const runtime::Port& output, runtime::Timeout timeout, Environment& environment) {
  return array_of(without_lock(environment, [&] { return backend.pop(output, timeout); }));
}

py::array get_array(runtime::Backend& backend, const runtime::Port& output, runtime::Timeout timeout, Environment& environment) {
  return array_of(without_lock(environment, [&] { return backend.get(output, timeout); }));
}

}  // namespace buda::python
