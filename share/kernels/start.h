// Where a kernel begins and ends. Included once, by the generated source of a thread, which defines tt::run().
#pragma once

#include <core.h>

namespace tt {
void run();
}

extern "C" {

// Compilers may call these, whatever they are told about libraries.
void* memset(void* to, int value, __SIZE_TYPE__ count) {
  for (__SIZE_TYPE__ i = 0; i < count; ++i) static_cast<volatile unsigned char*>(to)[i] = static_cast<unsigned char>(value);
  return to;
}
void* memcpy(void* to, const void* from, __SIZE_TYPE__ count) {
  for (__SIZE_TYPE__ i = 0; i < count; ++i) static_cast<volatile unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
  return to;
}

__attribute__((used)) void tt_main() {
  tt::run();
  tt::wait_idle();
  const_cast<volatile tt::Arguments&>(tt::arguments()).done[TT_THREAD] = 1;
  for (;;) asm volatile("");
}

__attribute__((naked, section(".start"), used)) void _start() { asm volatile("li sp, 0xffb00800\n\tj tt_main"); }
}
