// Ops that hand on what they get, or a function of it.
#pragma once

#include <matrix.h>
#include <pack.h>
#include <unpack.h>
#include <vector.h>
#include <zones.h>

namespace tt {

// K: `in` (Operand), `copy` (Copy), `slots`, `program` (Program), `seed` (of random numbers; 0 for none), `out` (Packed), `relu_mode`,
// `relu_threshold`, `adds` (to the output, as arguments say), `as_rows` (the output is rows of numbers).
template <class K>
struct CopyKernel {
  static void unpack() {
    begin_unpacking();
    set_destination<K::in.to_dest>();
    configure_unpacker<kSrcA>(K::in);
    RingEnd in(arguments().inputs[0]);
    ZONE("tiles");
    for (uint32_t n = arguments().tiles; n > 0; --n) {
      in.wait_for(1);
      if constexpr (K::copy == Copy::add) zeros_in_b();
      if constexpr (K::copy == Copy::to_dest) {
        wait_semaphore<kToDestSemaphore, kWhileZero>();
        issue<SEMGET::word | SEMGET::semaphores(kToDestSemaphore)>();
      }
      unpack_one<K::in.turned>(in.address(0));
      in.take(1);
    }
  }

  static void math() {
    set_formats<K::in.unpacked, K::in.unpacked>();
    set_width<K::out.wide>();
    set_address_mod<0, 8, 8, 8>();
    begin_math<K::slots>();
    if constexpr (K::seed != 0) {
      config(164) = K::seed;
      config_written();
    }
    ZONE("tiles");
    for (uint32_t n = arguments().tiles, slot = 0; n > 0; --n, slot ^= 1) {
      begin_tile<K::out.wide, K::slots>(slot);
      copy_tile<K::copy>();
      apply_program<K>();
      end_tile();
    }
  }

  // Row of blocks by row of blocks, each a message.
  static void pack_all_rows(RingEnd& out) {
    const volatile Arguments& a = arguments();
    const uint32_t block_cols = a.block_cols, rows = a.rows, cols = a.cols, row_bytes = a.row_bytes;
    uint32_t slot = 0;
    for (uint32_t n = a.matrices * a.block_rows; n > 0; --n) {
      out.wait_for_room(0);
      const uint32_t message = out.address(0) + 16;
      for (uint32_t j = 0; j < block_cols; ++j)
        for (uint32_t r = 0; r < rows; ++r)
          for (uint32_t c = 0; c < cols; ++c, slot ^= 1)
            pack_rows<K::slots>(slot, message + 32 * r * row_bytes + 4 * datum_bits(K::out.stored) * (j * cols + c), row_bytes,
                                K::out.stored);
      out.put(1);
    }
  }

  static void pack() {
    begin_packing();
    configure_packers(K::out, K::relu_mode, K::relu_threshold, adds<K>());
    RingEnd out(arguments().output);
    ZONE("tiles");
    if constexpr (K::as_rows) return pack_all_rows(out);
    for (uint32_t n = arguments().tiles, slot = 0; n > 0; --n, slot ^= 1) {
      out.wait_for_room(0);
      wait_idle();
      set_pack_address(out.address(0), K::out.stored);
      config_written();
      pack_tile<K::slots>(slot);
      out.put(1);
    }
  }
};

}  // namespace tt
