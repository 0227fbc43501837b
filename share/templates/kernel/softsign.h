// The three threads of the kernel. What is not written here is that of the family: unpacking and packing.
#pragma once

#include <families/copy.h>

namespace tt {

// K: the constants of the family that it replaces, here those of CopyKernel; K::program is softsign.sfpu, compiled.
template <class K>
struct SoftsignKernel : CopyKernel<K> {
  static void math() {
    set_formats<K::in.unpacked, K::in.unpacked>();
    set_width<K::out.wide>();
    set_address_mod<0, 8, 8, 8>();
    begin_math<K::slots>();
    for (uint32_t n = arguments().tiles, slot = 0; n > 0; --n, slot ^= 1) {
      begin_tile<K::out.wide, K::slots>(slot);
      copy_tile<K::copy>();
      apply_program<K>();
      end_tile();
    }
  }
};

}  // namespace tt
