// SPDX-License-Identifier: Apache-2.0
// What happens on Ctrl-C and on a crash: no half-written file stays, and the exit code tells which it was.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>

namespace buda::cli {

// SIGINT, SIGTERM and SIGHUP: removes temporary files, says so, ends with 130. SIGSEGV and its like: removes them, writes a crash report,
// asks for its reader (the author of the plugin that ran, if one did), ends with 70; where memory had run out or a mapped file was cut,
// says that instead, and ends with 1. The end of the process by a call of exit, as a plugin may do, is told, too. SIGPIPE and SIGXFSZ are
// ignored, so that a closed pipe and a file beyond the limit are write errors. `program` must live as long as the process.
void install_signal_handlers(const char* program);

// From now on SIGINT, SIGTERM and SIGHUP are how the program is meant to end, as a server: silently, with 0.
void end_well_when_interrupted();

// What the message of an interrupted program says of its products from now on, in place of that no partial product was left. For one
// thread.
void tell_when_interrupted(std::string text);

// The program has done its work, and may end by itself.
void expect_exit() noexcept;

}  // namespace buda::cli

extern "C" {
// For what stands in place of functions of the C library (apps/process_hooks.cpp): memory has run out; a call of _exit that is not ours.
BUDA_EXPORT void buda_note_no_memory() noexcept;
BUDA_EXPORT void buda_before_exit() noexcept;
}
