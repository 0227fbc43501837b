// The pack thread: tiles of the destination register into L1, a face by each of the four packers.
//
// Source: tt-isa-documentation, WormholeB0, PACR and Packers.
#pragma once

#include <core.h>
#include <formats.h>

namespace tt {

// How numbers are packed: from the destination's width, through an intermediate format, into one of L1.
struct Packed {
  bool wide;
  uint32_t intermediate, stored;
};

enum : uint32_t { kNoRelu = 0, kRelu = 1 };

inline uint32_t packer_word(uint32_t packer) { return packer == 0 ? 56 : packer == 1 ? 84 : packer == 2 ? 96 : 124; }

// Before the first tile, and where the format changes. All packers must be idle.
// `keeps_denormals`: a setting of the matrix unit that shares a word with theirs.
inline void configure_packers(Packed how, uint32_t relu_mode, uint32_t relu_threshold, bool accumulates, bool keeps_denormals = false) {
  const uint32_t bytes = datum_bits(how.intermediate) / 8;
  push(RMWCIB3::word | RMWCIB3::config(1) | RMWCIB3::mask(0x1e) | RMWCIB3::data(how.intermediate << 1));
  config(8) = bytes | 16 * bytes << 12;
  config(9) = (256 * bytes & 0xfff) | 1024 * bytes << 12;  // a tile is 1024 numbers
  config(14) = how.wide ? 1 : 0;
  config(16) = 0, config(17) = 0;
  config(20) = 0xffff;
  config(21) = 0;
  config(2) = relu_mode << 2 | relu_threshold << 6 | (keeps_denormals ? 1 : 0);
  const uint32_t face = 256 * datum_bits(how.stored) / 8 / 16;  // units of 16 bytes
  for (uint32_t i = 0; i < 4; ++i) {
    config(24 + i) = 16 << 8;
    config(152 + i) = 16 * i;
    const uint32_t word = packer_word(i);
    // Of a Bfp tile all exponents come first, 16 bytes of each face; the datums of face i are i faces after them.
    config(word) = is_bfp(how.stored) ? (4 - i + i * face) << 16 : 0;
    config(word + 2) = how.stored << 4 | how.intermediate << 8 | 1;
    config(word + 3) = accumulates ? 1u << 21 : 0;
  }
}

inline void begin_packing() {
  issue<SETADCXX::word | SETADCXX::units(4) | SETADCXX::x0(0) | SETADCXX::x1(255)>();
  issue<SETADCXY::word | SETADCXY::units(4) | SETADCXY::which(10)>();
  issue<SETADCZW::word | SETADCZW::units(4) | SETADCZW::which(15)>();
  issue<SETC16::word | SETC16::register_(31)>();
}

// Where the next tile goes: after the header.
inline void set_pack_address(uint32_t tile, uint32_t stored) {
  const uint32_t face = is_bfp(stored) ? 1 : 256 * datum_bits(stored) / 8 / 16;
  for (uint32_t i = 0; i < 4; ++i) config(packer_word(i) + 1) = (tile >> 4) + i * face;
}

// Whether the packers add to what is in the output's ring.
template <class K>
inline bool adds() {
  return K::adds && arguments().adds != 0;
}

template <uint32_t slots>
inline void select_slot(uint32_t slot) {
  if (slots == 1 || slot == 0) {
    issue<SETADCZW::word | SETADCZW::units(4) | SETADCZW::which(2) | SETADCZW::w0(0)>();
  } else {
    issue<SETADCZW::word | SETADCZW::units(4) | SETADCZW::which(2) | SETADCZW::w0(1)>();
  }
}
inline void give_slot_back() {
  issue<STALLWAIT::word | STALLWAIT::blocked(kBlockSync) | STALLWAIT::conditions(kWaitPackers)>();
  issue<SEMGET::word | SEMGET::semaphores(kSlotsSemaphore)>();
}

// Packs the slot when it is full, as rows of numbers that are `row_bytes` apart: of each face a row at a time.
template <uint32_t slots>
inline void pack_rows(uint32_t slot, uint32_t address, uint32_t row_bytes, uint32_t stored) {
  const uint32_t half = 16 * datum_bits(stored) / 8;  // bytes of a face's row
  issue<SETADCXX::word | SETADCXX::units(4) | SETADCXX::x0(0) | SETADCXX::x1(15)>();
  select_slot<slots>(slot);
  wait_semaphore<kSlotsSemaphore, kWhileZero>();
  for (uint32_t y = 0; y < 16; ++y) {
    wait_idle();
    for (uint32_t i = 0; i < 4; ++i) config(packer_word(i) + 1) = ((address + (16 * (i >> 1) + y) * row_bytes + (i & 1) * half) >> 4) - 1;
    config_written();
    push(SETADC::word | SETADC::units(4) | SETADC::dimension(1) | SETADC::value(y));
    issue<PACR::word | PACR::packers(15) | PACR::last(1)>();
  }
  issue<SETADC::word | SETADC::units(4) | SETADC::dimension(1)>();
  issue<SETADCXX::word | SETADCXX::units(4) | SETADCXX::x0(0) | SETADCXX::x1(255)>();
  give_slot_back();
}

// Packs the slot when it is full, and gives it back.
template <uint32_t slots>
inline void pack_tile(uint32_t slot) {
  select_slot<slots>(slot);
  wait_semaphore<kSlotsSemaphore, kWhileZero>();
  issue<PACR::word | PACR::packers(15) | PACR::last(1)>();
  give_slot_back();
}

}  // namespace tt
