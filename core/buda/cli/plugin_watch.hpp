// SPDX-License-Identifier: Apache-2.0
// Tells of calls of plugins that do not end: a loop without an end in somebody's plugin must not look like our work.
#pragma once

#include <buda/diag/sink.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace buda::cli {

struct WatchTimes {
  std::chrono::milliseconds glance{1000};
  std::chrono::milliseconds told_after{30'000};
};

// While it lives, a call of a plugin from outside `installed_directory` that lasts long is told of once, as PL011; the handler of an
// interrupt names it after a few glances (plugin/running.hpp).
class PluginWatch {
 public:
  PluginWatch(std::string installed_directory, DiagSink& sink, WatchTimes times = {});
  ~PluginWatch();

 private:
  void watch(const std::stop_token& stop);

  std::string installed_;
  DiagSink& sink_;
  WatchTimes times_;
  std::mutex mutex_;
  std::condition_variable_any stop_;
  std::jthread thread_;
};

}  // namespace buda::cli
