// SPDX-License-Identifier: Apache-2.0
// The plugin of the loader's tests. It is copied under many names, and its file's name chooses the way in which it is wrong; `good` is not.
#include <buda/graph/graph.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>

#include <dlfcn.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>

extern "C" const buda_plugin_info* buda_plugin_query(void);

namespace {

// What libbuda says in the test that loads this plugin; libbuda itself does not export it.
const char* running_plugin() {
  auto* ask = reinterpret_cast<const char* (*)()>(::dlsym(RTLD_DEFAULT, "running_plugin_of_test"));
  return ask == nullptr ? "" : ask();
}

class Empty final : public buda::plugin::Frontend {
 public:
  int recognizes(std::string_view head, const std::string&) const override {
    if (head == "throw") throw std::runtime_error("no idea");
    return 1;
  }
  // What the model's path asks for.
  buda::Result<buda::graph::Graph> import(const buda::plugin::ModelSource& source, const buda::plugin::ImportOptions& options,
                                          buda::Host&) override {
    if (source.path == "throw") throw std::runtime_error("out of ideas");
    if (source.path == "throw 7") throw 7;
    if (source.path == "memory") throw std::bad_alloc();
    if (source.path == "crash") std::raise(SIGSEGV);
    if (source.path == "abort") std::abort();
    if (source.path == "bad id") {
      buda::graph::Graph graph(options.name);
      graph.node(buda::graph::NodeId(static_cast<std::uint32_t>(source.path.size()) << 28)).origins.clear();
      return graph;
    }
    if (source.path == "who") return buda::graph::Graph(running_plugin());
    return buda::graph::Graph(options.name);
  }
};

bool fixture_is(const char* name) {
  Dl_info own{};
  ::dladdr(reinterpret_cast<void*>(&buda_plugin_query), &own);
  return std::filesystem::path(own.dli_fname).stem() == name;
}

void add(buda::plugin::Registrar& registrar) {
  registrar.add_frontend(
      {.name = fixture_is("nameless") ? "" : "fixture",
       .summary = "an empty graph",
       .options = {{.name = "depth", .type = buda::schema::OptionType::integer, .summary = "how deep", .default_text = "3"}},
       .make = [](const buda::schema::OptionValues&, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         return std::unique_ptr<buda::plugin::Frontend>(new Empty);
       }});
}

int register_fixture(void* registrar_ptr, void*) {
  auto& registrar = *static_cast<buda::plugin::Registrar*>(registrar_ptr);
  if (fixture_is("failing")) {
    registrar.error = "the moon is in the wrong phase";
    return 1;
  }
  add(registrar);
  if (fixture_is("twice")) add(registrar);
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const buda_plugin_info* buda_plugin_query(void) {
  static buda_plugin_info info = {BUDA_PLUGIN_MAGIC,   sizeof(buda_plugin_info),
                                  BUDA_ABI_GENERATION, BUDA_ABI_HEADERS,
                                  "fixture-plugin",    "1.2",
                                  "for tests",         "Apache-2.0",
                                  BUDA_CXX_ABI,        register_fixture};
  if (fixture_is("magic")) info.magic = 1;
  if (fixture_is("struct")) info.struct_size = 8;
  if (fixture_is("generation")) info.abi_generation = BUDA_ABI_GENERATION + 1;
  if (fixture_is("stale")) info.abi_headers = 0x0badcafe;
  if (fixture_is("frontend")) info.abi_headers = BUDA_ABI_FRONTEND;
  if (fixture_is("policy")) info.abi_headers = BUDA_ABI_POLICY;
  if (fixture_is("cxx")) info.cxx_abi = "another compiler";
  if (fixture_is("anonymous")) info.license = "";
  if (fixture_is("null")) return nullptr;
  if (fixture_is("throwing")) throw std::runtime_error("out of ideas");
  if (fixture_is("throwing-7")) throw 7;
  return &info;
}
