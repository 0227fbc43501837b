// The unpack thread: tiles of 32x32 from L1 into source registers, whole.
//
// Source: tt-isa-documentation, WormholeB0, UNPACR_Regular and UNPACR_NOP.
#pragma once

#include <core.h>
#include <formats.h>

namespace tt {

enum : uint32_t { kSrcA = 0, kSrcB = 1 };  // what unpackers 0 and 1 write

template <uint32_t unpacker>
struct UnpackerWords {
  static constexpr uint32_t descriptor = unpacker == 0 ? 52 : 92, mode = unpacker == 0 ? 60 : 100, base = unpacker == 0 ? 64 : 104;
};

// A tile is four faces of 256 numbers.
template <uint32_t unpacker>
inline void configure_unpacker(Operand operand) {
  using Words = UnpackerWords<unpacker>;
  const uint32_t uncompressed = 1 << 4, fast = 2 << 4;
  config(Words::descriptor) = operand.stored | uncompressed | 256u << 16;
  config(Words::descriptor + 1) = 1 | 4u << 16;
  config(Words::mode) = operand.unpacked | fast | (operand.turned ? 1u << 8 : 0);
  config(Words::mode + 1) = 3 | (operand.to_dest ? 1u << 4 : 0);
}

// Before the first tile.
inline void begin_unpacking() {
  issue<SETC16::word | SETC16::register_(39)>();
  config(72) = 64 | 64u << 16;    // where SrcA begins
  config(74) = 256 | 256u << 16;  // numbers of a face
  config(80) = 0;
  config(44) = 0, config(45) = 0, config(47) = 0;
  issue<SETADCXX::word | SETADCXX::units(3) | SETADCXX::x0(0) | SETADCXX::x1(1023)>();
  issue<SETADCXY::word | SETADCXY::units(3) | SETADCXY::which(10)>();
  issue<SETADCZW::word | SETADCZW::units(3) | SETADCZW::which(15)>();
}

// Whether numbers go to the source registers, which a thread's setting has to say as well.
template <bool to_dest>
inline void set_destination() {
  issue<SETC16::word | SETC16::register_(3) | SETC16::value(to_dest ? 0 : 4)>();
}

// Where numbers go that are unpacked past the source registers: a tile of the destination.
inline void set_destination_tile(uint32_t tile) { config(72) = (64 + 1024 * tile) | (64 + 1024 * tile) << 16; }

template <uint32_t unpacker>
inline void set_base(uint32_t tile) {
  config(UnpackerWords<unpacker>::base) = tile >> 4;  // the unpacker skips the header
}

template <uint32_t unpacker>
inline void unpack_tile() {
  issue<UNPACR::word | UNPACR::unpacker(unpacker) | UNPACR::multi_context(1) | UNPACR::flip(1) | UNPACR::last(1)>();
}

// Into SrcA, transposed: the unpacker turns faces, and the upper right one changes places with the lower left one. It is configured for an
// operand that is turned.
inline void unpack_turned(uint32_t tile) {
  wait_idle();
  set_base<kSrcA>(tile);
  for (uint32_t face = 0; face < 4; ++face) {
    const uint32_t first = 256 * ((face & 1) * 2 + (face >> 1));
    wait_idle();
    config(72) = (64 + 256 * face) | (64 + 256 * face) << 16;
    config_written();
    push(SETADCXX::word | SETADCXX::units(1) | SETADCXX::x0(first) | SETADCXX::x1(first + 255));
    if (face == 3) {
      unpack_tile<kSrcA>();
    } else {
      issue<UNPACR::word | UNPACR::unpacker(kSrcA) | UNPACR::multi_context(1) | UNPACR::last(1)>();
    }
  }
  wait_idle();
  config(72) = 64 | 64u << 16;
  issue<SETADCXX::word | SETADCXX::units(1) | SETADCXX::x0(0) | SETADCXX::x1(1023)>();
}

template <bool turned = false>
inline void unpack_one(uint32_t tile) {
  if (turned) return unpack_turned(tile);
  wait_idle();
  set_base<kSrcA>(tile);
  config_written();
  unpack_tile<kSrcA>();
}

template <bool turned_a = false>
inline void unpack_pair(uint32_t a, uint32_t b) {
  wait_idle();
  if (!turned_a) set_base<kSrcA>(a);
  set_base<kSrcB>(b);
  config_written();
  unpack_tile<kSrcB>();
  turned_a ? unpack_turned(a) : unpack_tile<kSrcA>();
}

inline void zeros_in_b() {
  issue<UNPACR_NOP::word | UNPACR_NOP::unpacker(kSrcB) | UNPACR_NOP::kind(1)>();
  issue<UNPACR_NOP::word | UNPACR_NOP::unpacker(kSrcB) | UNPACR_NOP::kind(7)>();
}

}  // namespace tt
