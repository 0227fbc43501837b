// SPDX-License-Identifier: Apache-2.0
// Programs that are started: how they end, and that an interrupt ends them.
#include <buda/io/process.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace buda::io {
namespace {

TEST(Process, TellsHowItEnded) {
  auto ended = run_process({"/bin/sh", "-c", "exit 3"});
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->exit_code, 3);
  auto killed = run_process({"/bin/sh", "-c", "kill -KILL $$"});
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->signal, SIGKILL);
  EXPECT_EQ(killed->exit_code, 128 + SIGKILL);
}

TEST(Process, WhatCannotBeStarted) {
  auto missing = run_process({"/no/such/program"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.failure().diagnostics().front().code, "IO005");
}

// In a process of its own: after an interrupt nothing is started any more.
void interrupt_a_process() {
  Diagnostic running, next;
  std::thread waits([&] {
    auto result = run_process({"/bin/sleep", "600"});
    if (!result) running = result.failure().diagnostics().front();
  });
  while (!interrupt_processes(SIGTERM)) std::this_thread::yield();
  waits.join();
  auto result = run_process({"/bin/true"});
  if (!result) next = result.failure().diagnostics().front();
  const bool said = running.code == "IO006" && running.message == "interrupted" && running.fault == Fault::interrupted;
  std::_Exit(said && next.code == "IO006" ? 0 : 1);
}

TEST(Process, AnInterruptEndsItAndThoseToCome) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(interrupt_a_process(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace buda::io
