// The installation that the module belongs to, and what goes between its errors and Python's.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/registry.hpp>

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace buda::python {

// Files, warnings and threads of one call, or of one object that lives on. Warnings become Python's when tell_warnings() is called.
class Environment {
 public:
  Environment();
  Host& host() { return host_; }
  // Needs the interpreter's lock.
  void tell_warnings();

 private:
  std::unique_ptr<io::FileSystem> files_ = io::make_real_file_system();
  CollectingSink warnings_;
  std::size_t told_ = 0;
  Host host_;
};

// The plugins of the installation, of all kinds; loaded when they are first asked for.
const plugin::Registries& plugins();

// Declares openbuda.Error, a RuntimeError with the diagnostics as a list of dictionaries.
void declare_error(pybind11::module_& module);

// Raises it.
[[noreturn]] void raise(const Failure& failure);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.failure());
  return std::move(*result);
}
inline void raise_unless(const Result<void>& result) {
  if (!result) raise(result.failure());
}

// Runs `work` without the interpreter's lock, then tells warnings and raises errors.
template <class Work>
auto without_lock(Environment& environment, Work&& work) {
  auto result = [&] {
    pybind11::gil_scoped_release others_run;
    return work();
  }();
  environment.tell_warnings();
  if (!result) raise(result.failure());
  if constexpr (!std::is_same_v<decltype(result), Result<void>>) return std::move(*result);
}

// The texts of an option's value, as a command line would give them: a bool, a number, a text, or a list of them.
std::vector<std::string> option_texts(const pybind11::handle& value);
// Options of a plugin from keyword arguments, with dashes for underscores.
schema::OptionValues plugin_options(const pybind11::kwargs& arguments);

}  // namespace buda::python
