// SPDX-License-Identifier: Apache-2.0
// To write a plugin you need one source file:
//
//   #include <buda/plugin/policy.hpp>                     // or frontend.hpp, decomposition.hpp, target.hpp
//   #include <buda/plugin/plugin.hpp>
//
//   BUDA_PLUGIN(.name = "mine", .version = "1.0", .description = "what it is for", .license = "Apache-2.0") {
//     registrar.add_policy({.name = "mine", .summary = "one line", .options = {}, .make = …});
//   }
//
// and in CMake `find_package(OpenBuda)` and `buda_add_plugin(mine KIND policy SOURCES plugin.cpp)`. docs/plugins tells what each kind does;
// share/templates/plugin has a start for each.
#pragma once

#include <buda/plugin/abi.h>
#include <buda/plugin/registry.hpp>

#include <string>

#pragma GCC visibility push(default)

namespace buda::plugin {

// Handed to the body of BUDA_PLUGIN. What is added is taken over when the body has ended; a name that exists already makes the host
// refuse the plugin as a whole.
class Registrar {
 public:
  void add_frontend(Entry<Frontend> e) { frontends.push_back(std::move(e)); }
  void add_decomposition(Entry<passes::Decomposition> e) { decompositions.push_back(std::move(e)); }
  void add_policy(Entry<balance::Policy> e) { policies.push_back(std::move(e)); }
  void add_target(Entry<runtime::Target> e) { targets.push_back(std::move(e)); }

  // Read by the host.
  std::vector<Entry<Frontend>> frontends;
  std::vector<Entry<passes::Decomposition>> decompositions;
  std::vector<Entry<balance::Policy>> policies;
  std::vector<Entry<runtime::Target>> targets;
  // What the body threw, if it threw.
  std::string error;
};

struct PluginText {
  const char* name;
  const char* version;
  const char* description;
  const char* license;
};

}  // namespace buda::plugin

#define BUDA_STRINGIFY_(x) #x
#define BUDA_STRINGIFY(x) BUDA_STRINGIFY_(x)

#ifdef _GLIBCXX_USE_CXX11_ABI
#define BUDA_STDLIB "libstdc++ cxx11=" BUDA_STRINGIFY(_GLIBCXX_USE_CXX11_ABI)
#else
#define BUDA_STDLIB "libc++"
#endif

// gcc and clang agree on the Itanium C++ ABI; what must match is the standard library and the generation of libbuda.
#define BUDA_CXX_ABI "itanium " BUDA_STDLIB " libbuda" BUDA_STRINGIFY(BUDA_ABI_GENERATION)

// Writes the exported function and the thunk that keeps exceptions on the plugin's side. The body sees `registrar` and `host`.
#define BUDA_PLUGIN(...)                                                                                                      \
  static void buda_plugin_register(buda::plugin::Registrar& registrar, buda::Host& host);                                     \
  static int buda_plugin_register_thunk(void* registrar_ptr, void* host_ptr) {                                                \
    auto& registrar = *static_cast<buda::plugin::Registrar*>(registrar_ptr);                                                  \
    try {                                                                                                                     \
      buda_plugin_register(registrar, *static_cast<buda::Host*>(host_ptr));                                                   \
      return 0;                                                                                                               \
    } catch (const std::exception& e) {                                                                                       \
      registrar.error = e.what();                                                                                             \
    } catch (...) {                                                                                                           \
      registrar.error = "an unknown exception";                                                                               \
    }                                                                                                                         \
    return 1;                                                                                                                 \
  }                                                                                                                           \
  extern "C" __attribute__((visibility("default"))) const buda_plugin_info* buda_plugin_query(void) {                         \
    static const buda::plugin::PluginText text = {__VA_ARGS__};                                                               \
    static const buda_plugin_info info = {                                                                                    \
        BUDA_PLUGIN_MAGIC, sizeof(buda_plugin_info), BUDA_ABI_GENERATION, BUDA_PLUGIN_INTERFACE, text.name,                   \
        text.version,      text.description,         text.license,        BUDA_CXX_ABI,          buda_plugin_register_thunk}; \
    return &info;                                                                                                             \
  }                                                                                                                           \
  static void buda_plugin_register([[maybe_unused]] buda::plugin::Registrar& registrar, [[maybe_unused]] buda::Host& host)

#pragma GCC visibility pop
