// SPDX-License-Identifier: Apache-2.0
// Signal handlers; everything in them is async-signal-safe.
#include <buda/cli/signals.hpp>

#include <buda/cli/crash_report.hpp>
#include <buda/cli/tool.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/process.hpp>
#include <buda/plugin/running.hpp>

#include <unistd.h>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace buda::cli {
namespace {

const char* program_name = "";
constexpr unsigned kSecondsOfReport = 20;

volatile std::sig_atomic_t ends_well = 0;
std::atomic<bool> exit_is_expected = false;
std::atomic<bool> memory_ran_out = false;
std::atomic<const char*> what_is_left = "no partial product was left";
pid_t own_process = 0;
// A handler must not run on the stack whose overflow is the reason for it.
alignas(16) char alternate_stack[128 * 1024];

void say(const char* text) {
  auto ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

void say_error(const char* text) {
  say("\n");
  say(program_name);
  say(": error: ");
  say(text);
}

[[noreturn]] void end(ExitCode code) {
  exit_is_expected = true;
  ::_exit(code);
}

extern "C" void on_interrupt(int signal) {
  // A program that waits for others ends when they have ended, and cleans up itself.
  if (io::interrupt_processes(signal)) return;
  io::remove_temporary_files();
  if (ends_well != 0) {
    say("\n");
    end(kOk);
  }
  say_error("interrupted");
  if (const char* plugin = plugin::plugin_with_long_call()) {
    say(" in the ");
    say(plugin);
  }
  say("; ");
  say(what_is_left.load());
  say("\n");
  end(kInterrupted);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

// What is nobody's mistake in a program ends this one with a word on it.
void end_for_want(int signal, const siginfo_t& info) {
  static FileName file;
  // A part of a mapped file that is not there, or that the disk does not give.
  if (signal == SIGBUS && find_mapped_file(info.si_addr, file)) {
    say("\n");
    say(file.data());
    say(": error: cannot be read to its end: another program has made it shorter, or the disk fails [IO012]\n");
    end(kInputError);
  }
  if (memory_ran_out) {
    say_error("out of memory [IO004]\n");
    end(kInputError);
  }
}

// Where a process has crashed, looking at its stack may crash or wait for ever.
extern "C" void on_crash_in_report(int) { end(kBug); }

extern "C" void on_crash(int signal, siginfo_t* info, void*) {
  io::remove_temporary_files();
  end_for_want(signal, *info);
  const char* plugin = plugin::running_plugin();
  if (plugin != nullptr) {
    say_error("crashed in the ");
    say(plugin);
    say("; please report this to its author, with the command and its input [BUG]\n");
  } else {
    say_error("internal error: this is a bug of ours; please report it with the command and its input [BUG]\n");
  }
  for (const int again : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) handle(again, on_crash_in_report, SA_NODEFER);
  ::alarm(kSecondsOfReport);
  if (const char* report = begin_crash_report(signal, plugin)) {
    say("note: ");
    say(report);
    say(" has a backtrace and digests of the inputs\n");
    write_digests_and_backtrace();
  }
  end(kBug);
}

// No memory can be got: the C library's or another one's allocator asks this function, if it asks any, before it gives up.
void on_no_memory() {
  memory_ran_out = true;
  throw std::bad_alloc();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void handle_crash(int signal) {
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}
#endif

}  // namespace

void install_signal_handlers(const char* program) {
  program_name = program;
  own_process = ::getpid();
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
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle_crash(signal);
#endif
  // Writing tells of it instead: nobody reads, a file is larger than the limit.
  for (int signal : {SIGPIPE, SIGXFSZ}) handle(signal, SIG_IGN, 0);
  std::set_new_handler(on_no_memory);
  std::atexit(buda_before_exit);
  std::at_quick_exit(buda_before_exit);
}

void end_well_when_interrupted() { ends_well = 1; }

// Texts take turns, so that a handler in another thread can finish the one that it has begun.
void tell_when_interrupted(std::string text) {
  static std::array<std::string, 2> texts;
  static std::size_t next = 0;
  texts[next] = std::move(text);
  what_is_left = texts[next].c_str();
  next = 1 - next;
}

void expect_exit() noexcept { exit_is_expected = true; }

}  // namespace buda::cli

extern "C" {

void buda_note_no_memory() noexcept { buda::cli::memory_ran_out = true; }

// In this process alone: one that a plugin has forked may end as it likes.
void buda_before_exit() noexcept {
  using namespace buda::cli;
  if (exit_is_expected || own_process != ::getpid()) return;
  buda::io::remove_temporary_files();
  if (const char* plugin = buda::plugin::running_plugin()) {
    say_error("the ");
    say(plugin);
    say(" has ended this program by a call of exit, before its work was done; please report this to its author [BUG]\n");
  } else {
    say_error("a plugin or a library has ended this program by a call of exit, before its work was done [BUG]\n");
  }
  end(kBug);
}
}
