// SPDX-License-Identifier: Apache-2.0
// Kernels that do what a chip leaves undefined. Which one is run says the number of tiles of the output: one kernel for all of them. The
// lines with a class in their comment are where each is found.
#pragma once

#include <families/copy.h>

namespace tt {

template <class K>
struct UndefinedKernel : CopyKernel<K> {
  static uint32_t number() { return arguments().tiles; }

  // So that compilers do not share the ends of cases, and with them their lines.
  template <uint32_t number>
  static void end() {
    asm volatile("" : : "i"(number));
  }

  static void give(uint32_t unpacker) {
    if (unpacker == 0) issue<UNPACR_NOP::word | UNPACR_NOP::kind(7)>();
    if (unpacker == 1) issue<UNPACR_NOP::word | UNPACR_NOP::unpacker(1) | UNPACR_NOP::kind(7)>();
  }

  static void unpack() {
    begin_unpacking();
    set_destination<false>();
    configure_unpacker<kSrcA>(K::in);
    config_written();
    RingEnd in(arguments().inputs[0]);
    in.wait_for(1);
    const uint32_t tile = in.address(0);
    switch (number()) {
      case 1:
        give(0);
        give(0);
        give(0);  // unowned-bank
        end<1>();
        break;
      case 2:
        give(1);
        give(1);
        give(1);  // unowned-bank
        end<2>();
        break;
      case 3:
        set_base<kSrcA>(tile);
        unpack_tile<kSrcA>();  // config-race
        end<3>();
        break;
      case 4:
        unpack_one(tile);
        set_base<kSrcA>(tile);  // config-race
        end<4>();
        break;
      case 5:
        unpack_one(0x100000);  // outside-buffers
        end<5>();
        break;
      case 6:
        unpack_one(arguments().output.address + 0x40000);  // outside-buffers
        end<6>();
        break;
      case 7:
        at(kArgumentsAddress - 4) = 0;  // outside-buffers
        end<7>();
        break;
      case 8:
        if (at(0x120000) == 0) wait_idle();  // outside-buffers
        end<8>();
        break;
      case 9:
        at(tile + 1) = 0;  // alignment
        end<9>();
        break;
      case 10:
        if (*reinterpret_cast<volatile uint16_t*>(tile + 17) == 0) wait_idle();  // alignment
        end<10>();
        break;
      case 11:
        at(0xd000) = 0;  // code-overwritten
        end<11>();
        break;
      case 12:
        at(0x12000) = 0;  // code-overwritten
        end<12>();
        break;
      default:
        give(1);
        unpack_one(tile);
        unpack_one(tile);
    }
  }

  static void wait_for_a() { issue<STALLWAIT::word | STALLWAIT::blocked(kBlockAll) | STALLWAIT::conditions(kWaitSrcA)>(); }

  static void math() {
    if (number() <= 12) return;
    set_formats<K::in.unpacked, K::in.unpacked>();
    set_width<K::out.wide>();
    set_address_mod<0, 8, 8, 8>();
    begin_math<K::slots>();
    if (number() > 20) begin_tile<K::out.wide, K::slots>(0);
    switch (number()) {
      case 13:
        wait_for_a();
        rewind<1>();
        wait_for_a();
        rewind<1>();
        rewind<1>();  // unowned-bank
        end<13>();
        break;
      case 14:
        issue<STALLWAIT::word | STALLWAIT::blocked(kBlockAll) | STALLWAIT::conditions(0x800)>();
        rewind<2>();
        rewind<2>();  // unowned-bank
        end<14>();
        break;
      case 15:
        issue<ELWMUL::word>();  // unwritten-dest
        end<15>();
        break;
      case 16:
        issue<SFPLOAD::word | SFPLOAD::format(kVectorFloat16B)>();  // unwritten-dest
        end<16>();
        break;
      case 17:
        issue<MOVA2D::word | MOVA2D::rows(2)>();
        issue<SFPLOAD::word | SFPLOAD::format(kVectorFloat32)>();  // unwritten-dest
        end<17>();
        break;
      case 18:
        issue<SEMGET::word | SEMGET::semaphores(kSlotsSemaphore)>();  // semaphore-range
        end<18>();
        break;
      case 19:
        for (uint32_t i = 0; i < 16; ++i) issue<SEMPOST::word | SEMPOST::semaphores(kToDestSemaphore)>();  // semaphore-range
        end<19>();
        break;
      case 20:
        at(0xffe80020u + 4 * 5) = 1;  // semaphore-range
        end<20>();
        break;
      case 21:
        for (uint32_t i = 0; i < 16; ++i) at(0xffe80020u + 4 * 5) = 0;  // semaphore-range
        end<21>();
        break;
      case 22:
        set_formats<1, 5>();
        issue<MVMUL::word>();  // format-mismatch
        end<22>();
        break;
      case 23:
        set_formats<4, 4>();
        issue<MOVA2D::word | MOVA2D::rows(2)>();  // format-mismatch
        end<23>();
        break;
      case 24:
        issue<MOVA2D::word | MOVA2D::rows(2)>();
        rewind<0>();
        issue<SFPLOAD::word | SFPLOAD::format(kVectorFloat16)>();  // format-mismatch
        end<24>();
        break;
      case 25:
        issue<SFPMAD::word | SFPMAD::vd(1) | SFPMAD::va(9) | SFPMAD::vb(9) | SFPMAD::vc(9)>();
        issue<SFPSTORE::word | SFPSTORE::format(kVectorFloat16B) | SFPSTORE::lreg(1)>();  // vector-hazard
        end<25>();
        break;
      case 26:
        issue<SFPMUL::word | SFPMUL::vd(1) | SFPMUL::va(9) | SFPMUL::vb(9) | SFPMUL::vc(9)>();
        issue<SFPADD::word | SFPADD::vd(2) | SFPADD::va(10) | SFPADD::vb(1) | SFPADD::vc(9)>();  // vector-hazard
        end<26>();
        break;
      case 27:
        issue<SFPSWAP::word | SFPSWAP::mod(1) | SFPSWAP::vd(1) | SFPSWAP::vc(2)>();
        issue<SFPMOV::word | SFPMOV::vd(3) | SFPMOV::vc(4)>();  // vector-hazard
        end<27>();
        break;
      case 28:
        issue<SFPADD::word | SFPADD::vd(1) | SFPADD::va(10) | SFPADD::vb(9) | SFPADD::vc(9)>();
        issue<SFPSETEXP::word | SFPSETEXP::vd(2) | SFPSETEXP::vc(1) | SFPSETEXP::mod(1)>();  // vector-hazard
        end<28>();
        break;
      case 29:
        issue<SETRWC::word | SETRWC::which(1) | SETRWC::a(4)>();
        issue<MOVA2D::word | MOVA2D::rows(2)>();  // alignment
        end<29>();
        break;
      case 30:
        issue<SFPLOAD::word | SFPLOAD::format(kVectorFloat16B) | SFPLOAD::row(1)>();  // alignment
        end<30>();
        break;
      case 31:
        issue<SETRWC::word | SETRWC::which(1) | SETRWC::a(4)>();
        issue<MVMUL::word>();  // alignment
        end<31>();
        break;
      default:
        copy_tile<Copy::move>();
    }
    end_tile();
  }

  static void pack() {
    if (number() <= 31) return;
    begin_packing();
    configure_packers(K::out, K::relu_mode, K::relu_threshold, false);
    config_written();
    RingEnd out(arguments().output);
    const uint32_t tile = out.address(0);
    wait_idle();
    switch (number()) {
      case 32:
        set_pack_address(tile, K::out.stored);
        issue<PACR::word | PACR::packers(15) | PACR::last(1)>();  // config-race
        end<32>();
        break;
      case 33:
        set_pack_address(tile, K::out.stored);
        config_written();
        wait_semaphore<kSlotsSemaphore, kWhileZero>();
        issue<PACR::word | PACR::packers(15) | PACR::last(1)>();
        set_pack_address(tile, K::out.stored);  // config-race
        end<33>();
        break;
      case 34:
        set_pack_address(0x160000, K::out.stored);
        config_written();
        pack_tile<K::slots>(0);  // outside-buffers
        end<34>();
        break;
      case 35:
        set_pack_address(0x12000, K::out.stored);
        config_written();
        pack_tile<K::slots>(0);  // code-overwritten
        end<35>();
        break;
      case 36:
        set_pack_address(tile, K::out.stored);
        config_written();
        wait_semaphore<kSlotsSemaphore, kWhileZero>();
        select_slot<2>(1);
        issue<PACR::word | PACR::packers(15) | PACR::last(1)>();  // unwritten-dest
        end<36>();
        break;
      case 37:
        push(RMWCIB3::word | RMWCIB3::config(1) | RMWCIB3::mask(0x1e) | RMWCIB3::data(6 << 1));
        set_pack_address(tile, K::out.stored);
        config_written();
        pack_tile<K::slots>(0);  // format-mismatch
        end<37>();
        break;
      default:
        set_pack_address(tile, K::out.stored);
        config_written();
        pack_tile<K::slots>(0);
        out.put(1);
    }
  }
};

}  // namespace tt
