// DPRINT("k=%u", k): a line on the output of whoever runs the kernel. Without kernelc's --dprint nothing is left of it.
//
// Numbers of 32 bits: %u, %d, %x, %c, and %f for a float. A thread waits while its ring of words (arguments.h) is full.
#pragma once

#include <core.h>

namespace tt {

inline uint32_t print_word(float value) { return __builtin_bit_cast(uint32_t, value); }
template <class T>
inline uint32_t print_word(T value) {
  return static_cast<uint32_t>(value);
}

template <class... Args>
__attribute__((noinline)) void print(const char* format, Args... args) {
  volatile PrintRing& ring = *reinterpret_cast<volatile PrintRing*>(kPrintAddress + TT_THREAD * sizeof(PrintRing));
  const uint32_t words[] = {reinterpret_cast<uint32_t>(format), sizeof...(Args), print_word(args)...};
  constexpr uint32_t count = sizeof words / sizeof words[0];
  static_assert(count <= kPrintWords, "too many numbers for one DPRINT");
  const uint32_t at = ring.written;
  while (at + count - ring.read > kPrintWords) {
  }
  for (uint32_t i = 0; i < count; ++i) ring.words[(at + i) % kPrintWords] = words[i];
  ring.written = at + count;
}

}  // namespace tt

#ifdef TT_DPRINT
#define DPRINT(...) TT_PRINT(__VA_ARGS__)
// The mark tells who runs the kernel that it prints.
#define TT_PRINT(format, ...) ::tt::print("DPRINT:" format __VA_OPT__(, ) __VA_ARGS__)
#else
#define DPRINT(...) static_cast<void>(0)
#endif
