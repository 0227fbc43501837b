// SPDX-License-Identifier: Apache-2.0
// What only an executable can put in place of the C library's and the allocator's own: word of memory that has run out, where C code gets
// none and goes on, and of an end of the process that a plugin brings about.
#include <buda/cli/signals.hpp>

#include <mimalloc.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace {

void on_allocator_error(int error, void*) {
  if (error == ENOMEM) buda_note_no_memory();
}

// Before main, and so before nearly all memory.
const bool kAsked = (mi_register_error(on_allocator_error, nullptr), true);

}  // namespace

// These calls run no function of atexit.
extern "C" void _exit(int status) {
  buda_before_exit();
  while (true) ::syscall(SYS_exit_group, status);
}
extern "C" void _Exit(int status) noexcept { ::_exit(status); }
