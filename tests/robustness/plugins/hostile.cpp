// SPDX-License-Identifier: Apache-2.0
// A frontend that does what a plugin must not do. The variable HOSTILE says where and what: "PLACE HOW".
#include <buda/graph/graph.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

[[noreturn]] void loop() {
  for (volatile int i = 0;; i = i + 1) {
  }
}

// A process of the plugin's own may end as it likes.
void fork_and_end() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(3);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) throw std::runtime_error("the child did not end as it wanted");
}

void act(const std::string& place) {
  const char* wanted = std::getenv("HOSTILE");
  const std::string text = wanted == nullptr ? "" : wanted;
  if (text.rfind(place + ' ', 0) != 0) return;
  const std::string how = text.substr(place.size() + 1);
  if (how == "exit") std::exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "_exit") ::_exit(0);
  if (how == "_Exit") ::_Exit(0);
  if (how == "abort") std::abort();
  if (how == "crash") std::raise(SIGSEGV);
  if (how == "throw") throw std::runtime_error("out of ideas");
  if (how == "thread-exit") std::thread([] { std::exit(0); }).join();
  if (how == "loop") loop();
  if (how == "fork") fork_and_end();
}

struct Global {
  Global() { act("load"); }
} global;

class Hostile final : public buda::plugin::Frontend {
 public:
  ~Hostile() override { act("end"); }
  int recognizes(std::string_view, const std::string&) const override {
    act("recognizes");
    return 1000;
  }
  buda::Result<buda::graph::Graph> import(const buda::plugin::ModelSource& source, const buda::plugin::ImportOptions&,
                                          buda::Host&) override {
    act("import");
    return buda::input_error("XX001", {source.path}, "hostile.so reads no model");
  }
};

int register_hostile(void* registrar, void*) {
  act("register");
  static_cast<buda::plugin::Registrar*>(registrar)->add_frontend(
      {.name = "hostile",
       .summary = "does what it must not",
       .options = {},
       .make = [](const buda::schema::OptionValues&, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         act("make");
         return std::unique_ptr<buda::plugin::Frontend>(new Hostile);
       }});
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const buda_plugin_info* buda_plugin_query(void) {
  static const buda_plugin_info info = {
      BUDA_PLUGIN_MAGIC, sizeof(buda_plugin_info), BUDA_ABI_GENERATION, BUDA_ABI_HEADERS, "hostile", "1", "for tests", "Apache-2.0",
      BUDA_CXX_ABI,      register_hostile};
  act("query");
  return &info;
}
