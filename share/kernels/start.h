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
  volatile tt::Arguments& a = const_cast<volatile tt::Arguments&>(tt::arguments());
  for (uint32_t input = 1;; ++input) {
    tt::run();
    tt::wait_idle();
    a.done[TT_THREAD] = input;
    if (input >= a.runs) break;
    // What the threads share begins anew for each input, when all are done with the one before.
    if (TT_THREAD == 0) {
      while (a.done[1] < input || a.done[2] < input) {
      }
      const uint32_t streams[] = {a.between.stream, a.buffers[0].stream};
      for (uint32_t stream : streams)
        if (stream != 0) {
          tt::stream_register(stream, tt::kTaken) = 0;
          tt::stream_register(stream, tt::kArrived) = 0;
          tt::wait_for_value(tt::stream_register(stream, tt::kArrived));
        }
      a.begun = input;
    } else {
      while (a.begun < input) {
      }
    }
  }
  for (;;) asm volatile("");
}

__attribute__((naked, section(".start"), used)) void _start() { asm volatile("li sp, 0xffb00800\n\tj tt_main"); }
}
