// SPDX-License-Identifier: Apache-2.0
// Small programs whose results do not depend on the processor: compiled for a core and, as the reference, for the machine of the test.
#pragma once

#include <stdint.h>

namespace programs {

inline uint32_t next(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

// A checksum of a table that is filled, sorted and searched: loads, stores and branches of all widths.
inline uint32_t sorting(uint32_t seed) {
  int16_t numbers[200];
  uint8_t seen[256] = {};
  for (auto& n : numbers) n = static_cast<int16_t>(next(seed));
  for (int i = 1; i < 200; ++i)
    for (int k = i; k > 0 && numbers[k - 1] > numbers[k]; --k) {
      const int16_t low = numbers[k];
      numbers[k] = numbers[k - 1];
      numbers[k - 1] = low;
    }
  uint32_t sum = 0;
  for (int16_t n : numbers) {
    sum = sum * 31 + static_cast<uint32_t>(static_cast<int32_t>(n));
    seen[static_cast<uint8_t>(n)] = static_cast<uint8_t>(seen[static_cast<uint8_t>(n)] + static_cast<int8_t>(n >> 8));
  }
  for (uint8_t s : seen) sum = sum * 33 ^ s;
  return sum;
}

// Products of all signs, quotients and remainders; by zero and by -1, too, as RISC-V defines them.
inline int32_t divided(int32_t a, int32_t b) { return b == 0 ? -1 : b == -1 ? static_cast<int32_t>(0u - static_cast<uint32_t>(a)) : a / b; }
inline int32_t left_over(int32_t a, int32_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
inline uint32_t arithmetic(uint32_t seed) {
  static const int32_t edges[] = {0, 1, -1, 2147483647, -2147483647 - 1, 7, -13};
  uint32_t sum = 0;
  for (int i = 0; i < 300; ++i) {
    const auto a = i < 49 ? edges[i / 7] : static_cast<int32_t>(next(seed)),
               b = i < 49 ? edges[i % 7] : static_cast<int32_t>(next(seed) >> (i % 29));
    const auto ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
    sum = sum * 31 + static_cast<uint32_t>(divided(a, b));
    sum = sum * 31 + static_cast<uint32_t>(left_over(a, b));
    sum = sum * 31 + (ub == 0 ? 5 : ua / ub) + (ub == 0 ? 9 : ua % ub);
    sum = sum * 31 + static_cast<uint32_t>(static_cast<uint64_t>(static_cast<int64_t>(a) * b) >> 32);
    sum = sum * 31 + static_cast<uint32_t>((static_cast<uint64_t>(ua) * ub) >> 32);
    sum = sum * 31 + static_cast<uint32_t>(static_cast<uint64_t>(static_cast<int64_t>(a) * static_cast<int64_t>(ub)) >> 32);
    sum = sum * 31 + (a < b ? 1u : 2u) + (ua < ub ? 4u : 8u) + (a >> (ub & 31)) + (ua >> (ub & 31)) + (ua << (ub & 31));
  }
  return sum;
}

// Calls that are not inlined, and a jump table.
__attribute__((noinline)) inline uint32_t recursive(uint32_t n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
inline uint32_t choosing(uint32_t seed) {
  uint32_t sum = recursive(12);
  for (int i = 0; i < 200; ++i) switch (next(seed) % 8) {
      case 0:
        sum += 17;
        break;
      case 1:
        sum ^= 0xdeadbeef;
        break;
      case 2:
        sum = sum << 3 | sum >> 29;
        break;
      case 3:
        sum -= seed;
        break;
      case 4:
        sum *= 0x01000193;
        break;
      case 5:
        sum = ~sum;
        break;
      case 6:
        sum |= 1;
        break;
      default:
        sum &= 0xfffffff3;
    }
  return sum;
}

}  // namespace programs
