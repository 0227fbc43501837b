// SPDX-License-Identifier: Apache-2.0
// Session and Generator.
#pragma once

#include "apps/python/opened.hpp"

#include <buda/runtime/generator.hpp>
#include <buda/runtime/merged_session.hpp>

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace buda::python {

// Models on a device, each called with all of its inputs. Calls may come from several threads, and wait for each other.
class PySession {
 public:
  static std::unique_ptr<PySession> open(const Opening& opening);

  std::vector<std::string> models() const { return session_of(*opened()).models(); }
  // `inputs` by name, or in the order of the model's inputs: a tuple, a list, or the only one.
  pybind11::dict run(const pybind11::object& inputs, const std::string& model);
  void remove_modules() { close(opened_); }
  // The model's inputs or outputs: (name, type, shape).
  pybind11::list ports(const std::string& model, bool inputs) const;
  std::string text() const;

  // What Session and Generator have in common.
  struct Opened {
    OnTarget on;
    std::unique_ptr<runtime::MergedSession> session;
    std::mutex turn;  // of calls that use the device
    // An empty name is that of the first model.
    Result<runtime::Session*> model(const std::string& name) const;
  };
  std::shared_ptr<Opened> opened() const { return present(opened_); }

 private:
  static runtime::MergedSession& session_of(const Opened& opened) { return *opened.session; }
  std::shared_ptr<Opened> opened_;
};

// Generation by the models of a session, which stay open as long.
class PyGenerator {
 public:
  PyGenerator(const PySession& session, const std::string& decode, const std::string& prefill, const std::string& token,
              const std::string& position, const std::string& logits);
  std::int64_t prefill(std::vector<std::int64_t> tokens, std::int64_t write_index);
  std::vector<std::int64_t> generate(std::int64_t loop_count, std::int64_t write_index, std::int64_t tokens_per_iter,
                                     std::int64_t token_id);

 private:
  std::shared_ptr<PySession::Opened> opened_;
  std::shared_ptr<runtime::Generator> generator_;
};

void declare_sessions(pybind11::module_& module);

}  // namespace buda::python
