// SPDX-License-Identifier: Apache-2.0
// A thread that looks now and then which calls go on, and remembers since when.
#include <buda/cli/plugin_watch.hpp>

#include <buda/base/text.hpp>
#include <buda/plugin/running.hpp>

#include <map>
#include <set>
#include <utility>

namespace buda::cli {
namespace {

constexpr int kGlancesOfLongCall = 2;

using Call = std::pair<const void*, std::uint64_t>;

}  // namespace

PluginWatch::PluginWatch(std::string installed_directory, DiagSink& sink, WatchTimes times)
    : installed_(std::move(installed_directory)),
      sink_(sink),
      times_(times),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

PluginWatch::~PluginWatch() {
  thread_.request_stop();
  thread_.join();
  plugin::set_long_call(nullptr);
}

void PluginWatch::watch(const std::stop_token& stop) {
  std::map<Call, int> seen;  // glances
  std::set<Call> told;
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, stop, times_.glance, [&] { return stop.stop_requested(); })) {
    std::map<Call, int> now;
    const plugin::PluginCode* is_long = nullptr;
    for (const plugin::RunningCall& call : plugin::running_calls()) {
      if (!installed_.empty() && call.code->file.starts_with(cat(installed_, '/'))) continue;
      const Call key(call.place, call.number);
      const int glances = now[key] = seen[key] + 1;
      if (glances > kGlancesOfLongCall) is_long = call.code;
      if (glances * times_.glance < times_.told_after || !told.insert(key).second) continue;
      Diagnostic d = warning("PL011", {call.code->file},
                             cat("one call of the ", call.code->who, " has lasted ", times_.told_after.count() / 1000, " s, and goes on"));
      d.hint = "if it has a loop that does not end, Ctrl-C ends the program; its author should know";
      sink_.report(d);
    }
    plugin::set_long_call(is_long);
    seen = std::move(now);
  }
}

}  // namespace buda::cli
