// SPDX-License-Identifier: Apache-2.0
// The installation that the module belongs to, and what goes between its errors and Python's.
#pragma once

#include "apps/python/apart.hpp"

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/registry.hpp>

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace buda::python {

// When interrupted work ends (apart.hpp).
enum class Ends : std::uint8_t {
  anywhere,
  between_batches,  // so that the device can go on with other ones
};

// Files, warnings and threads of one call, or of one object that lives on. Warnings, which come from any thread, become Python's when
// tell_warnings() is called.
class Environment {
 public:
  explicit Environment(Ends ends = Ends::anywhere);
  ~Environment();
  Host& host();
  // Needs the interpreter's lock.
  void tell_warnings();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
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
inline void value_or_raise(Result<void> result) {
  if (!result) raise(result.failure());
}
inline void raise_unless(const Result<void>& result) {
  if (!result) raise(result.failure());
}

// Does `work`, which gives a Result and owns what it uses, without the interpreter's lock and apart from it; then tells warnings and raises
// errors.
template <class Work>
auto without_lock(const std::shared_ptr<Environment>& environment, Work work, const std::function<void()>& stop = nullptr) {
  auto result = result_apart([environment, work = std::move(work)]() mutable { return work(); }, stop);
  environment->tell_warnings();
  if (!result) raise(result.failure());
  if constexpr (!std::is_same_v<decltype(result), Result<void>>) return std::move(*result);
}

// The texts of an option's value, as a command line would give them: a bool, a number, a text, or a list of them.
std::vector<std::string> option_texts(const pybind11::handle& value);
// Options of a plugin from keyword arguments, with dashes for underscores.
schema::OptionValues plugin_options(const pybind11::kwargs& arguments);

}  // namespace buda::python
