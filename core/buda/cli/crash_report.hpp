// SPDX-License-Identifier: Apache-2.0
// The file that a crash leaves for those who look for its reason. All but prepare_crash_report is fit for handlers of signals.
#pragma once

#include <array>

namespace buda::cli {

// What a handler of signals cannot get first. `program` and the arguments must live as long as the process.
void prepare_crash_report(const char* program, int argc, char** argv);

// Begins $TMPDIR/buda-crash-PID.txt: the signal, the plugin that ran (or null), the command. The path of the file; null where it cannot be
// written.
const char* begin_crash_report(int signal, const char* plugin) noexcept;
// Ends it by digests of the files that the command names, and the backtrace; the latter may crash.
void write_digests_and_backtrace() noexcept;

// The file that is mapped at an address, from the system's list of this process's mappings. False: none is.
using FileName = std::array<char, 4096>;
bool find_mapped_file(const void* address, FileName& name) noexcept;

}  // namespace buda::cli
