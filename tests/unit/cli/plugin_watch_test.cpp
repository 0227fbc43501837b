// SPDX-License-Identifier: Apache-2.0
// Calls of plugins that last long are told once, and shipped plugins are left alone.
#include <buda/cli/plugin_watch.hpp>

#include <buda/plugin/running.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace buda {
namespace {

using std::chrono::milliseconds;

std::size_t warnings_of_call(const std::string& file, milliseconds time) {
  CollectingSink sink;
  {
    cli::PluginWatch watch("/opt/plugins", sink, {.glance = milliseconds(5), .told_after = milliseconds(50)});
    const plugin::InPlugin running(plugin::plugin_code("policy of plugin 'mine'", file));
    std::this_thread::sleep_for(time);
  }
  for (const Diagnostic& d : sink.diagnostics()) EXPECT_EQ(d.code, "PL011");
  return sink.diagnostics().size();
}

TEST(PluginWatch, TellsOnceOfACallThatLasts) {
  EXPECT_EQ(warnings_of_call("/home/me/mine.so", milliseconds(400)), 1u);
  EXPECT_EQ(warnings_of_call("/home/me/mine.so", milliseconds(1)), 0u);
  EXPECT_EQ(warnings_of_call("/opt/plugins/mine.so", milliseconds(400)), 0u);
}

TEST(PluginWatch, ManyCallsAreNotOneThatLasts) {
  CollectingSink sink;
  cli::PluginWatch watch("", sink, {.glance = milliseconds(5), .told_after = milliseconds(100)});
  const auto end = std::chrono::steady_clock::now() + milliseconds(400);
  const plugin::PluginCode& code = plugin::plugin_code("policy of plugin 'mine'", "mine.so");
  while (std::chrono::steady_clock::now() < end) const plugin::InPlugin running(code);
  EXPECT_TRUE(sink.diagnostics().empty());
}

TEST(PluginWatch, NamesTheCallToAnInterrupt) {
  CollectingSink sink;
  cli::PluginWatch watch("", sink, {.glance = milliseconds(5), .told_after = milliseconds(60'000)});
  const plugin::InPlugin running(plugin::plugin_code("policy of plugin 'mine'", "mine.so"));
  for (int i = 0; i < 1000 && plugin::plugin_with_long_call() == nullptr; ++i) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_STREQ(plugin::plugin_with_long_call(), "policy of plugin 'mine'");
}

}  // namespace
}  // namespace buda
