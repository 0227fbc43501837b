// SPDX-License-Identifier: Apache-2.0
// Starting other programs: by file name and arguments, never through a shell.
#pragma once

#include <buda/diag/result.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace buda::io {

// How a program ended: its exit code, or the signal that ended it (then exit_code is 128 + signal, as shells count).
struct ProcessResult {
  int exit_code = 0;
  int signal = 0;
  bool timed_out = false;  // it was ended after the limit
};

// Runs a program to its end with our standard streams; `argv[0]` is its path. An error when it cannot be started, or when we are
// interrupted while it runs: the signal is handed on to it first. May be called from several threads.
Result<ProcessResult> run_process(const std::vector<std::string>& argv);
// The same; with all programs that it has started itself it is ended if it takes longer.
Result<ProcessResult> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds limit);

// For signal handlers: hands the signal on to the running programs. False when there are none. After it, run_process reports
// `interrupted` in every thread and starts nothing more.
bool interrupt_processes(int signal) noexcept;

// A command line for a POSIX shell, quoted where needed: for showing commands.
std::string shell_line(const std::vector<std::string>& argv);

}  // namespace buda::io
