// SPDX-License-Identifier: Apache-2.0
// Training from Python, phase by phase.
#pragma once

#include "apps/python/opened.hpp"

#include <buda/runtime/merged_session.hpp>
#include <buda/runtime/session/training_session.hpp>

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace buda::python {

// The image of a training step on a device.
class PyTraining {
 public:
  static std::unique_ptr<PyTraining> open(const std::string& image, const std::string& target, const pybind11::kwargs& options);

  // (outputs, mean of the losses or None).
  pybind11::tuple forward(const pybind11::dict& inputs);
  // (of parameters, of inputs).
  pybind11::tuple backward(const pybind11::dict& gradients, bool begins);
  void optimize(double rate_factor);
  pybind11::dict parameters();
  void set_parameters(const pybind11::dict& values);
  pybind11::dict states();
  // Names, in the model's order.
  pybind11::list inputs() const;
  pybind11::list outputs() const;
  pybind11::list targets() const;
  pybind11::list gradients() const;
  void remove_modules() { close(opened_); }

 private:
  struct Opened {
    OnTarget on;
    std::unique_ptr<runtime::MergedSession> session;
    std::optional<runtime::TrainingSession> training;
    std::mutex turn;
  };
  template <class Use>
  auto in_turn(Use use);
  const runtime::Ports& ports() const;
  std::shared_ptr<Opened> opened() const { return present(opened_); }

  std::shared_ptr<Opened> opened_;
};

void declare_training(pybind11::module_& module);

}  // namespace buda::python
