// Signal handlers; everything in them is async-signal-safe.
#include <buda/cli/signals.hpp>

#include <buda/cli/tool.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/process.hpp>
#include <buda/plugin/guard.hpp>

#include <unistd.h>
#include <csignal>
#include <cstring>

namespace buda::cli {
namespace {

const char* program_name = "";
volatile std::sig_atomic_t ends_well = 0;
// A handler must not run on the stack whose overflow is the reason for it.
alignas(16) char alternate_stack[64 * 1024];

void say(const char* text) {
  auto ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

extern "C" void on_interrupt(int signal) {
  // A program that waits for others ends when they have ended, and cleans up itself.
  if (io::interrupt_processes(signal)) return;
  io::remove_temporary_files();
  say("\n");
  if (ends_well != 0) ::_exit(kOk);
  say(program_name);
  say(": error: interrupted; no partial product was left\n");
  ::_exit(kInterrupted);
}

extern "C" void on_crash(int) {
  io::remove_temporary_files();
  say("\n");
  say(program_name);
  if (const char* plugin = plugin::running_plugin()) {
    say(": error: crashed in the ");
    say(plugin);
    say("; please report this to its author, with the command and its input [BUG]\n");
  } else {
    say(": error: internal error: this is a bug of ours; please report it with the command and its input [BUG]\n");
  }
  ::_exit(kBug);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers(const char* program) {
  program_name = program;
  stack_t stack{};
  stack.ss_sp = alternate_stack;
  stack.ss_size = sizeof alternate_stack;
  ::sigaltstack(&stack, nullptr);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that was ignored when we were started (nohup) stays ignored.
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) handle(signal, on_interrupt, 0);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle(signal, on_crash, SA_ONSTACK | static_cast<int>(SA_RESETHAND));
#endif
  // Writing tells of it instead: nobody reads, a file is larger than the limit.
  for (int signal : {SIGPIPE, SIGXFSZ}) handle(signal, SIG_IGN, 0);
}

void end_well_when_interrupted() { ends_well = 1; }

}  // namespace buda::cli
