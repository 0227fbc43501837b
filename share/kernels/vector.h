// The vector unit: a program on the numbers of the destination register, 32 at a time.
//
// Source: tt-isa-documentation, WormholeB0: SFPLOAD, SFPSTORE, SFPENCC, SFPCONFIG.
#pragma once

#include <matrix.h>

namespace tt {

// How the vector unit reads and writes the destination.
enum VectorFormat : uint32_t { kVectorFloat16 = 1, kVectorFloat16B = 2, kVectorFloat32 = 3, kVectorWord = 4, kVectorInteger = 12 };

// A program: the words to push. It finds a number in register 0, of the second tile in register 1, and leaves what it made in `result`.
// With `count` 0 there is none.
struct Program {
  uint32_t count, result;
  uint32_t load, store;  // VectorFormat
  uint32_t faces;        // of a tile, a bit for each
  uint32_t words[600];
};

enum : uint32_t { kVectorStay = 2, kVectorNext = 3, kBlockVectorUnit = 256, kBlockVectorAndMatrixUnit = 320, kSecondTile = 64 };

// Address modifiers of the vector unit, and what programs expect: flags on and set, -1.0 in register 11.
inline void begin_vector() {
  set_address_mod<kVectorStay, 0, 0, 0>();
  set_address_mod<kVectorNext, 0, 0, 2>();
  issue<SFPENCC::word | SFPENCC::mod(10) | SFPENCC::immediate(3)>();
  issue<SFPCONFIG::word | SFPCONFIG::mod(1) | SFPCONFIG::vd(11)>();
}

template <class K, uint32_t i = 0>
inline void push_program() {
  if constexpr (i < K::program.count) {
    issue<K::program.words[i]>();
    push_program<K, i + 1>();
  }
}

// On the tile in the slot that is used, with the one after it as second operand.
template <class K, bool two = false>
inline void apply_program() {
  if constexpr (K::program.count > 0) {
    begin_vector();
    issue<STALLWAIT::word | STALLWAIT::blocked(kBlockVectorUnit) | STALLWAIT::conditions(kWaitMatrixUnit)>();
    rewind<0>();
    for (uint32_t face = 0; face < 4; ++face) {
      if ((K::program.faces >> face & 1) == 0) {
        issue<INCRWC::word | INCRWC::d(8)>();
        issue<INCRWC::word | INCRWC::d(8)>();
        continue;
      }
      for (uint32_t i = 0; i < 8; ++i) {
        issue<SFPLOAD::word | SFPLOAD::format(K::program.load) | SFPLOAD::addr_mod(kVectorStay)>();
        if constexpr (two)
          issue<SFPLOAD::word | SFPLOAD::format(K::program.load) | SFPLOAD::addr_mod(kVectorStay) | SFPLOAD::lreg(1) |
                SFPLOAD::row(kSecondTile)>();
        push_program<K>();
        issue<SFPSTORE::word | SFPSTORE::format(K::program.store) | SFPSTORE::addr_mod(kVectorNext) | SFPSTORE::lreg(K::program.result)>();
      }
    }
    issue<STALLWAIT::word | STALLWAIT::blocked(kBlockVectorAndMatrixUnit) | STALLWAIT::conditions(kWaitVectorUnit)>();
    rewind<0>();
  }
}

}  // namespace tt
