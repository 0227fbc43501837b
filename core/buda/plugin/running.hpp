// SPDX-License-Identifier: Apache-2.0
// Whose code runs: the calls of plugins in which the threads of this process are, for the handlers of crashes and interrupts, and for who
// watches that such calls end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace buda::plugin {

// A part of a plugin: "policy of plugin 'mine' 0.1 (mine.so)".
struct PluginCode {
  std::string who;
  std::string file;
};

// The one of this text. It stays as long as the process, so that a handler of signals may read it at any time.
const PluginCode& plugin_code(const std::string& who, const std::string& file);

// The plugin whose code this thread runs; null outside of plugins.
const char* running_plugin() noexcept;

// While it lives, this thread runs code of a plugin.
class InPlugin {
 public:
  explicit InPlugin(const PluginCode& code);
  ~InPlugin();
  InPlugin(const InPlugin&) = delete;
  InPlugin& operator=(const InPlugin&) = delete;

 private:
  const PluginCode* before_;
};

// A call that goes on in some thread. Equal places and numbers are the same call, or what it has called.
struct RunningCall {
  const void* place = nullptr;
  std::uint64_t number = 0;
  const PluginCode* code = nullptr;
};
std::vector<RunningCall> running_calls();

// The plugin that has been found to take long, for the handler of an interrupt: until it is told otherwise. Null: none.
void set_long_call(const PluginCode* code) noexcept;
const char* plugin_with_long_call() noexcept;

}  // namespace buda::plugin
