// SPDX-License-Identifier: Apache-2.0
// Keeps what a plugin's code does wrong apart from what ours does.
//
// Interfaces of plugins report by Result and throw nothing; a plugin that throws all the same has a bug, and its user needs to know whose
// it is. What plugin::make hands out is wrapped: an exception out of a method with a Result becomes a failure that names the plugin, one
// out of any other method becomes a PluginError. Running out of memory or threads is nobody's bug and passes through. A crash cannot be
// caught; its handler learns whose code ran.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/plugin/registry.hpp>
#include <buda/plugin/running.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace buda::plugin {

struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Guard {
 public:
  Guard(const Provenance& from, const char* kind);

  // fn(), guarded; `method` is for the message.
  template <class Fn>
  auto call(const char* method, Fn&& fn) const -> decltype(fn()) {
    const InPlugin running(code_);
    try {
      return fn();
    } catch (...) {
      std::string text = describe_exception(method);
      if constexpr (kIsResult<decltype(fn())>)
        return internal_error(std::move(text));
      else
        throw PluginError(text);
    }
  }

  // Ends an object of the plugin.
  template <class T>
  void end(std::unique_ptr<T>& object) const {
    const InPlugin running(code_);
    object.reset();
  }

 private:
  template <class T>
  static constexpr bool kIsResult = false;
  // Called while an exception is handled.
  std::string describe_exception(const char* method) const;

  const PluginCode& code_;
};

std::unique_ptr<Frontend> guarded(std::unique_ptr<Frontend> inner, const Provenance& from);
std::unique_ptr<passes::Decomposition> guarded(std::unique_ptr<passes::Decomposition> inner, const Provenance& from);
std::unique_ptr<balance::Policy> guarded(std::unique_ptr<balance::Policy> inner, const Provenance& from);
// Guards the devices that it opens too.
std::unique_ptr<runtime::Target> guarded(std::unique_ptr<runtime::Target> inner, const Provenance& from);

template <class T>
inline constexpr bool Guard::kIsResult<Result<T>> = true;

}  // namespace buda::plugin
