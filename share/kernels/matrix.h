// The math thread: one tile of the destination register after the other.
//
// The destination is used as one or two slots, of a tile each, so that the packers empty one while the other is filled. Semaphore 1 counts
// those that are full.
// Source: tt-isa-documentation, WormholeB0: MVMUL, ELWADD, MOVA2D, ZEROACC, SETRWC, and ApplyAddrMod.
#pragma once

#include <core.h>
#include <formats.h>

namespace tt {

// How an instruction moves the rows on which it works: address modifier `index`.
template <uint32_t index, uint32_t a, uint32_t b, uint32_t d>
inline void set_address_mod() {
  issue<SETC16::word | SETC16::register_(7 + 2 * index) | SETC16::value(a | b << 8)>();
  issue<SETC16::word | SETC16::register_(23 + index) | SETC16::value(d)>();
}

// The matrix unit's settings share a word with the packers', so that each thread changes its own bits of it. Where one operand is Int8 the
// unit computes with integers; another one beside it has to go past the source registers.
template <uint32_t a_operand, uint32_t b_operand>
inline void set_formats() {
  constexpr bool integers = a_operand == kInt8 || b_operand == kInt8;
  constexpr uint32_t a_format = integers ? kInt8 : matrix_format(a_operand), b_format = integers ? kInt8 : matrix_format(b_operand);
  constexpr uint32_t bits = a_format << 17 | b_format << 21 | (integers ? 1u << 31 : 0);
  issue<RMWCIB2::word | RMWCIB2::config(1) | RMWCIB2::mask(0xfe) | RMWCIB2::data(bits >> 16 & 0xfe)>();
  issue<RMWCIB3::word | RMWCIB3::config(1) | RMWCIB3::mask(0x81) | RMWCIB3::data(bits >> 24 & 0x81)>();
}

// Whether the destination has 32 bits, for the matrix unit and the vector unit.
template <bool wide>
inline void set_width() {
  issue<RMWCIB3::word | RMWCIB3::config(1) | RMWCIB3::mask(0x60) | RMWCIB3::data(wide ? 0x60 : 0)>();
}

template <uint32_t slots>
inline void begin_math() {
  issue<SETC16::word | SETC16::register_(2) | SETC16::value(0)>();
  issue<SEMINIT::word | SEMINIT::semaphores(kSlotsSemaphore) | SEMINIT::most(slots)>();
  issue<SEMINIT::word | SEMINIT::semaphores(kToDestSemaphore) | SEMINIT::most(1)>();
}

// Row counters to the beginning; `flip`: 1 gives SrcA's bank back, 2 SrcB's.
template <uint32_t flip>
inline void rewind() {
  issue<SETRWC::word | SETRWC::which(15) | SETRWC::flip(flip)>();
}

template <bool wide, uint32_t slot, uint32_t group = 0>
inline void clear_slot() {
  if constexpr (group < (wide ? 8 : 4)) {
    issue<ZEROACC::word | ZEROACC::mode(1) | ZEROACC::dst(slot * (wide ? 8 : 4) + group)>();
    clear_slot<wide, slot, group + 1>();
  }
}

template <uint32_t slot>
inline void use_slot() {
  issue<SETC16::word | SETC16::register_(1) | SETC16::value(64 * slot)>();
}

// The fidelity phase of products.
template <uint32_t phase>
inline void set_phase() {
  issue<SETC16::word | SETC16::register_(6) | SETC16::value(phase)>();
}

// Waits for an empty slot, and clears it. Slots are used in turn.
template <bool wide, uint32_t slots>
inline void begin_tile(uint32_t slot) {
  wait_semaphore<kSlotsSemaphore, kWhileFull>();
  if (slots == 1 || slot == 0) {
    use_slot<0>();
    clear_slot<wide, 0>();
  } else {
    use_slot<1>();
    clear_slot<wide, 1>();
  }
  rewind<0>();
  set_phase<0>();
}

inline void end_tile() {
  issue<STALLWAIT::word | STALLWAIT::blocked(kBlockSync) | STALLWAIT::conditions(kWaitMatrixUnit | kWaitVectorUnit)>();
  issue<SEMPOST::word | SEMPOST::semaphores(kSlotsSemaphore)>();
}

// How the tile in SrcA becomes the destination's.
enum class Copy : uint32_t {
  move,     // 16 bits: as it is
  add,      // 32 bits: added to zeros in SrcB
  add_to,   // added, with zeros in SrcB, to what the destination has
  to_dest,  // 32 bits: the unpacker has put it there
};

// With address modifier 0 at 8 rows of everything.
template <Copy how>
inline void copy_tile() {
  if constexpr (how == Copy::to_dest) {
    issue<SEMPOST::word | SEMPOST::semaphores(kToDestSemaphore)>();
    issue<STALLWAIT::word | STALLWAIT::blocked(kBlockAll) | STALLWAIT::conditions(kWaitSrcA)>();
    rewind<1>();
    return;
  }
  for (uint32_t i = 0; i < 8; ++i) {
    if constexpr (how == Copy::move) issue<MOVA2D::word | MOVA2D::rows(2) | MOVA2D::addr_mod(0)>();
    if constexpr (how == Copy::add) issue<ELWADD::word | ELWADD::addr_mod(0)>();
    if constexpr (how == Copy::add_to) issue<ELWADD::word | ELWADD::accumulate(1) | ELWADD::addr_mod(0)>();
  }
  rewind<how == Copy::move ? 1 : 3>();
}

}  // namespace tt
