// SPDX-License-Identifier: Apache-2.0
// Backend.
#pragma once

#include "apps/python/opened.hpp"

#include <buda/runtime/backend.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::python {

// An image on a device, whose queues are pushed and popped while programs run.
class PyBackend {
 public:
  using Seconds = std::optional<double>;

  static std::unique_ptr<PyBackend> open(const Opening& opening);

  void push(const std::string& input, pybind11::object array, Seconds timeout, const std::string& model);
  pybind11::array pop(const std::string& output, Seconds timeout, const std::string& model);
  pybind11::array get(const std::string& output, Seconds timeout, const std::string& model);
  // All programs of a model, so many turns.
  void start(std::int64_t turns, const std::string& model);
  // All segments, those of the host, too.
  void run(std::int64_t turns, Seconds timeout, const std::string& model);
  void wait(Seconds timeout);
  void cancel();
  void remove_modules() { close(opened_); }
  pybind11::dict queue_state(const std::string& queue);
  std::vector<std::string> queues() const;
  std::string text() const;

 private:
  struct Opened {
    OnTarget on;
    std::unique_ptr<runtime::Backend> backend;
    Result<const runtime::LoadedModel*> model(const std::string& name) const;
  };
  std::shared_ptr<Opened> opened() const { return present(opened_); }

  std::shared_ptr<Opened> opened_;
};

void declare_backends(pybind11::module_& module);

}  // namespace buda::python
