// What happens on Ctrl-C and on a crash: no half-written file stays, and the exit code tells which it was.
#pragma once

namespace buda::cli {

// SIGINT, SIGTERM and SIGHUP: removes temporary files, says so, ends with 130. SIGSEGV and its like: removes them, asks for a report (to the
// author of the plugin that ran, if one did), ends with 70. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe
// and a file beyond the limit are write errors. `program` must live
// as long as the process.
void install_signal_handlers(const char* program);

// From now on SIGINT, SIGTERM and SIGHUP are how the program is meant to end, as a server: silently, with 0.
void end_well_when_interrupted();

}  // namespace buda::cli
