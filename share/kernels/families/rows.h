// Ops that make tiles of rows of numbers: what a queue in flat layout holds, or the rows of a table that were looked up.
//
// A message has 32 rows as wide as a ublock, one after the other behind a header of 16 bytes. An unpacker takes 16 numbers of each of 16
// rows, which are a face; row_bytes lie between them.
#pragma once

#include <families/copy.h>

namespace tt {

// K: as of a copy, without `adds` and `as_rows`.
template <class K>
struct RowsKernel {
  static constexpr uint32_t datum_bytes = datum_bits(K::in.stored) / 8;

  static void take_rows(uint32_t row_bytes) {
    const uint32_t tilize = 1 << 9;
    config(UnpackerWords<kSrcA>::mode) = K::in.unpacked | 2 << 4 | tilize | (row_bytes >> 4) << 16;
    issue<SETADCXX::word | SETADCXX::units(1) | SETADCXX::x0(0) | SETADCXX::x1(255)>();
  }

  // `face`: of the tile, where its numbers begin 16 bytes behind `address`.
  static void unpack_face(uint32_t face, uint32_t address) {
    wait_idle();
    config(72) = (64 + 256 * face) | (64 + 256 * face) << 16;
    set_base<kSrcA>(address);
    config_written();
    if (face == 3) {
      unpack_tile<kSrcA>();
    } else {
      issue<UNPACR::word | UNPACR::unpacker(kSrcA) | UNPACR::multi_context(1) | UNPACR::last(1)>();
    }
  }

  static void unpack() {
    const volatile Arguments& a = arguments();
    const uint32_t cols = a.cols, row_bytes = a.row_bytes;
    begin_unpacking();
    set_destination<K::in.to_dest>();
    configure_unpacker<kSrcA>(K::in);
    take_rows(row_bytes);
    RingEnd in(a.inputs[0]);
    ZONE("tiles");
    for (uint32_t n = a.tiles; n > 0; n -= cols) {
      in.wait_for(1);
      for (uint32_t c = 0; c < cols; ++c) {
        if constexpr (K::copy == Copy::add) zeros_in_b();
        if constexpr (K::copy == Copy::to_dest) {
          wait_semaphore<kToDestSemaphore, kWhileZero>();
          issue<SEMGET::word | SEMGET::semaphores(kToDestSemaphore)>();
        }
        const uint32_t tile = in.address(0) + 32 * c * datum_bytes;
        for (uint32_t face = 0; face < 4; ++face) unpack_face(face, tile + (face >> 1) * 16 * row_bytes + (face & 1) * 16 * datum_bytes);
      }
      in.take(1);
    }
  }

  static void math() { CopyKernel<K>::math(); }
  static void pack() { CopyKernel<K>::pack(); }
};

}  // namespace tt
