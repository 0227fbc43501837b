// Sums, differences and products of two operands, element by element.
#pragma once

#include <families/copy.h>

namespace tt {

enum class Binary : uint32_t { add, subtract, multiply };

// K: `a`, `b` (Operand), `operation` (Binary), `phases`, a bit for each fidelity phase, `slots`, `out` (Packed), `relu_mode`,
// `relu_threshold`.
template <class K>
struct BinaryKernel {
  static void unpack() {
    begin_unpacking();
    set_destination<false>();
    configure_unpacker<kSrcA>(K::a);
    configure_unpacker<kSrcB>(K::b);
    RingEnd a(arguments().inputs[0]), b(arguments().inputs[1]);
    ZONE("tiles");
    for (uint32_t n = arguments().tiles; n > 0; --n) {
      a.wait_for(1);
      b.wait_for(1);
      unpack_pair<K::a.turned>(a.address(0), b.address(0));
      a.take(1);
      b.take(1);
    }
  }

  template <uint32_t phase>
  static void multiply_phase() {
    if constexpr ((K::phases >> phase & 1) != 0) {
      set_phase<phase>();
      rewind<0>();
      for (uint32_t i = 0; i < 8; ++i) issue<ELWMUL::word | ELWMUL::addr_mod(0)>();
    }
  }

  static void math() {
    set_formats<K::a.unpacked, K::b.unpacked>();
    set_width<K::out.wide>();
    set_address_mod<0, 8, 8, 8>();
    begin_math<K::slots>();
    ZONE("tiles");
    for (uint32_t n = arguments().tiles, slot = 0; n > 0; --n, slot ^= 1) {
      begin_tile<K::out.wide, K::slots>(slot);
      if constexpr (K::operation == Binary::multiply) {
        multiply_phase<3>();
        multiply_phase<2>();
        multiply_phase<1>();
        multiply_phase<0>();
      } else {
        for (uint32_t i = 0; i < 8; ++i) {
          if constexpr (K::operation == Binary::add) issue<ELWADD::word | ELWADD::addr_mod(0)>();
          if constexpr (K::operation == Binary::subtract) issue<ELWSUB::word | ELWSUB::addr_mod(0)>();
        }
      }
      rewind<3>();
      end_tile();
    }
  }

  static void pack() { CopyKernel<K>::pack(); }
};

}  // namespace tt
