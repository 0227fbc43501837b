// SPDX-License-Identifier: Apache-2.0
// Images of files, and what is open on a target.
#pragma once

#include "apps/python/toolchain.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/model.hpp>
#include <buda/schema/option_set.hpp>

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

namespace buda::python {

// A target, and what must live as long as what is open on it.
struct OnTarget {
  std::shared_ptr<Environment> environment = std::make_shared<Environment>(Ends::between_batches);
  std::unique_ptr<runtime::Target> target;
  device::DeviceDescriptor device;

  // Makes the target, with its options, for an image's device or another one.
  Result<void> make(const std::string& name, const std::string& device_name, const schema::OptionValues& options,
                    const runtime::MergedModel& models);
};

// How an image is opened.
struct Opening {
  std::string image, target, device;
  schema::OptionValues options;
};

// What was open is there until it is closed, and while another thread calls it.
template <class T>
std::shared_ptr<T> present(const std::shared_ptr<T>& opened) {
  if (opened == nullptr) throw pybind11::value_error("it is closed, and its models were removed from the device: open the image again");
  return opened;
}

// Lets go of what is open, which may take a while.
template <class T>
void close(std::shared_ptr<T>& opened) {
  if (opened == nullptr) return;
  result_apart([gone = std::exchange(opened, nullptr)]() mutable {
    gone.reset();
    return true;
  });
}

// `with` closes it at its end.
template <class Class>
void declare_closing(Class& type) {
  type.def("remove_modules", &Class::type::remove_modules, "Ends the models, and clears the device; the same as close().")
      .def("close", &Class::type::remove_modules, "Ends the models, and clears the device. A second call does nothing.")
      .def("__enter__", [](pybind11::object self) { return self; })
      .def("__exit__", [](typename Class::type& self, const pybind11::args&) { self.remove_modules(); });
}

}  // namespace buda::python
