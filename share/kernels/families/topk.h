// The k largest numbers of each row, or their indices; k is 32 at most.
//
// Tiles of numbers and of indices are transposed by the unpacker, so that what is compared lies in different rows of the destination. There
// tile 0 holds the 32 largest of the tiles so far, in descending order, and tile 1 the next ones in ascending order; of each pair of places
// the larger number stays, and what stays is sorted again. Indices are in tiles 2 and 3, and move with their numbers. The result is packed,
// and transposed on its way through the unpacker once more.
//
// The network is bitonic. Registers 0 to 3 hold 16 numbers of a column, four in the lanes of each; SFPTRANSP exchanges what is in different
// registers with what is in different rows of lanes.
// Source: tt-isa-documentation, WormholeB0: SFPSWAP, SFPTRANSP, SFPCONFIG, UNPACR_Regular.
#pragma once

#include <families/copy.h>

namespace tt {

// K: `values`, `indices`, `picked` (Operand, of what waits to be transposed), `load` (VectorFormat), `k`, `picks_indices`, `partial` and
// `out` (Packed), `relu_mode`, `relu_threshold`.
template <class K>
struct TopkKernel {
  enum : uint32_t { kSecond = 64, kIndices = 128, kIndexFormat = 6, kCarry = 4 };
  // Modes of SFPSWAP: in which rows of lanes the second operand gets the smaller number.
  enum : uint32_t { kAll = 1, kFirstTwo = 2, kEven = 3 };

  static void unpack_transposed(Operand operand, uint32_t tile) {
    wait_idle();
    operand.turned = true;
    configure_unpacker<kSrcA>(operand);
    unpack_turned(tile);
  }

  static void unpack() {
    begin_unpacking();
    set_destination<false>();
    const volatile Arguments& a = arguments();
    RingEnd values(a.inputs[0]), indices(a.inputs[1]), between(a.between);
    for (uint32_t row = a.tiles; row > 0; --row) {
      ZONE("tiles");
      for (uint32_t i = a.inner; i > 0; --i) {
        values.wait_for(1);
        unpack_transposed(K::values, values.address(0));
        values.take(1);
        indices.wait_for(1);
        unpack_transposed(K::indices, indices.address(0));
        indices.take(1);
      }
      between.wait_for(1);
      unpack_transposed(K::picked, between.address(0));
      between.take(1);
    }
  }

  template <uint32_t format, uint32_t slot>
  static void copy_to() {
    set_formats<format, format>();
    use_slot<slot>();
    copy_tile<Copy::move>();
  }

  template <uint32_t reg, uint32_t row>
  static void load() {
    issue<SFPLOAD::word | SFPLOAD::format(K::load) | SFPLOAD::addr_mod(kVectorStay) | SFPLOAD::lreg(reg) | SFPLOAD::row(row)>();
    issue<SFPLOAD::word | SFPLOAD::format(kIndexFormat) | SFPLOAD::addr_mod(kVectorStay) | SFPLOAD::lreg(4 + reg) |
          SFPLOAD::row(row + kIndices)>();
  }
  template <uint32_t value, uint32_t index, uint32_t row>
  static void store_pair() {
    issue<SFPSTORE::word | SFPSTORE::format(K::load) | SFPSTORE::addr_mod(kVectorStay) | SFPSTORE::lreg(value) | SFPSTORE::row(row)>();
    issue<SFPSTORE::word | SFPSTORE::format(kIndexFormat) | SFPSTORE::addr_mod(kVectorStay) | SFPSTORE::lreg(index) |
          SFPSTORE::row(row + kIndices)>();
  }
  template <uint32_t reg, uint32_t row>
  static void store() {
    store_pair<reg, 4 + reg, row>();
  }
  static void transpose() { issue<SFPTRANSP::word>(); }

  // Where numbers 4 group to 4 group + 3 of a column are, in the upper and lower faces.
  static constexpr uint32_t row_of(uint32_t group) { return group < 4 ? 4 * group : 32 + 4 * (group - 4); }

  // The larger of each pair into register `first`.
  template <uint32_t first, uint32_t second, uint32_t mode = kAll>
  static void order() {
    issue<SFPSWAP::word | SFPSWAP::mod(mode) | SFPSWAP::vd(second) | SFPSWAP::vc(first)>();
    issue<SFPNOP::word>();
  }
  template <bool descending, uint32_t first, uint32_t second>
  static void order_to() {
    if constexpr (descending) order<first, second>();
    if constexpr (!descending) order<second, first>();
  }
  template <uint32_t mode>
  static void order_in_fours() {
    order<0, 2, mode>(), order<1, 3, mode>();
    order<0, 1, mode>(), order<2, 3, mode>();
  }

  // A bitonic run of the 16 numbers in the registers.
  template <bool descending>
  static void merge_in_registers() {
    order_to<descending, 0, 2>(), order_to<descending, 1, 3>();
    order_to<descending, 0, 1>(), order_to<descending, 2, 3>();
    transpose();
    order_to<descending, 0, 2>(), order_to<descending, 1, 3>();
    order_to<descending, 0, 1>(), order_to<descending, 2, 3>();
    transpose();
  }

  template <uint32_t base, uint32_t group>
  static void load_four() {
    load<0, base + row_of(group)>(), load<1, base + row_of(group + 1)>(), load<2, base + row_of(group + 2)>(),
        load<3, base + row_of(group + 3)>();
  }
  template <uint32_t base, uint32_t group>
  static void store_four() {
    store<0, base + row_of(group)>(), store<1, base + row_of(group + 1)>(), store<2, base + row_of(group + 2)>(),
        store<3, base + row_of(group + 3)>();
  }

  // Runs of 2, 4 and 8, in turn descending and ascending, then all 16.
  template <uint32_t base, uint32_t group, bool descending>
  static void sort_half() {
    load_four<base, group>();
    transpose();
    order<0, 1>(), order<3, 2>();
    order_in_fours<kEven>();
    transpose();
    order<0, 1>(), order<3, 2>();
    transpose();
    order_in_fours<kFirstTwo>();
    transpose();
    merge_in_registers<descending>();
    store_four<base, group>();
  }

  template <uint32_t base, bool descending, uint32_t group>
  static void order_halves() {
    load<0, base + row_of(group)>(), load<1, base + row_of(group + 1)>(), load<2, base + row_of(group + 4)>(),
        load<3, base + row_of(group + 5)>();
    order_to<descending, 0, 2>(), order_to<descending, 1, 3>();
    store<0, base + row_of(group)>(), store<1, base + row_of(group + 1)>(), store<2, base + row_of(group + 4)>(),
        store<3, base + row_of(group + 5)>();
  }
  template <uint32_t base, bool descending>
  static void merge() {
    order_halves<base, descending, 0>(), order_halves<base, descending, 2>();
    load_four<base, 0>(), merge_in_registers<descending>(), store_four<base, 0>();
    load_four<base, 4>(), merge_in_registers<descending>(), store_four<base, 4>();
  }
  template <uint32_t base, bool descending>
  static void sort() {
    sort_half<base, 0, true>(), sort_half<base, 4, false>();
    merge<base, descending>();
  }

  template <uint32_t group>
  static void keep_larger() {
    load<0, row_of(group)>(), load<1, row_of(group + 1)>(), load<2, kSecond + row_of(group)>(), load<3, kSecond + row_of(group + 1)>();
    order<0, 2>(), order<1, 3>();
    store<0, row_of(group)>(), store<1, row_of(group + 1)>();
  }

  // Zeros behind the k numbers.
  template <uint32_t group>
  static void cut() {
    if constexpr (4 * group >= K::k) {
      store_pair<9, 9, row_of(group)>();
    } else if constexpr (4 * group + 4 > K::k) {
      load<0, row_of(group)>();
      issue<SFPPUSHC::word>();
      // Lanes have their number twice in register 15; 8 are a row.
      issue<SFPIADD::word | SFPIADD::mod(9) | SFPIADD::vd(1) | SFPIADD::vc(15) | SFPIADD::immediate(4096 - 16 * (K::k % 4))>();
      issue<SFPLOADI::word | SFPLOADI::lreg(0)>();
      issue<SFPLOADI::word | SFPLOADI::lreg(4)>();
      issue<SFPPOPC::word>();
      store<0, row_of(group)>();
    }
  }

  // The even and the odd columns of the left and of the right faces, one after the other.
  template <class Work>
  static void in_all_columns(Work work) {
    issue<STALLWAIT::word | STALLWAIT::blocked(kBlockVectorUnit) | STALLWAIT::conditions(kWaitMatrixUnit)>();
    use_slot<0>();
    rewind<0>();
    for (uint32_t part = 0; part < 4; ++part) {
      work();
      part == 1 ? issue<INCRWC::word | INCRWC::d(14)>() : issue<INCRWC::word | INCRWC::d(2)>();
    }
    issue<STALLWAIT::word | STALLWAIT::blocked(kBlockVectorAndMatrixUnit) | STALLWAIT::conditions(kWaitVectorUnit)>();
    rewind<0>();
  }

  static void math() {
    set_width<false>();
    set_address_mod<0, 8, 8, 8>();
    // Copies keep all bits: those of an index look like a number without an exponent sometimes.
    issue<RMWCIB0::word | RMWCIB0::config(2) | RMWCIB0::mask(1) | RMWCIB0::data(1)>();
    begin_math<1>();
    begin_vector();
    issue<SFPCONFIG::word | SFPCONFIG::mod(1) | SFPCONFIG::vd(15) | SFPCONFIG::immediate(kCarry)>();
    issue<SFPNOP::word>(), issue<SFPNOP::word>();
    const uint32_t inner = arguments().inner;
    for (uint32_t row = arguments().tiles; row > 0; --row) {
      ZONE("tiles");
      begin_tile<false, 1>(0);
      copy_to<K::values.unpacked, 0>(), copy_to<K::indices.unpacked, 2>();
      in_all_columns([] { sort<0, true>(); });
      for (uint32_t i = 1; i < inner; ++i) {
        copy_to<K::values.unpacked, 1>(), copy_to<K::indices.unpacked, 3>();
        in_all_columns([] {
          sort<kSecond, false>();
          keep_larger<0>(), keep_larger<2>(), keep_larger<4>(), keep_larger<6>();
          merge<0, true>();
        });
      }
      if constexpr (K::k < 32) in_all_columns([] { cut<0>(), cut<1>(), cut<2>(), cut<3>(), cut<4>(), cut<5>(), cut<6>(), cut<7>(); });
      end_tile();
      begin_tile<false, 1>(0);
      copy_to<K::picked.unpacked, 0>();
      end_tile();
    }
  }

  static void pack() {
    begin_packing();
    const volatile Arguments& a = arguments();
    RingEnd out(a.output), between(a.between);
    const auto pack_to = [](RingEnd& ring, Packed how, uint32_t relu_mode, uint32_t relu_threshold, bool second) {
      ring.wait_for_room(0);
      wait_idle();
      configure_packers(how, relu_mode, relu_threshold, false, true);
      set_pack_address(ring.address(0), how.stored);
      config_written();
      if (second) {
        issue<SETADCZW::word | SETADCZW::units(4) | SETADCZW::which(2) | SETADCZW::w0(2)>();
      } else {
        issue<SETADCZW::word | SETADCZW::units(4) | SETADCZW::which(2) | SETADCZW::w0(0)>();
      }
      wait_semaphore<kSlotsSemaphore, kWhileZero>();
      issue<PACR::word | PACR::packers(15) | PACR::last(1)>();
      give_slot_back();
      ring.put(1);
    };
    for (uint32_t row = a.tiles; row > 0; --row) {
      ZONE("tiles");
      pack_to(between, K::partial, kNoRelu, 0, K::picks_indices);
      pack_to(out, K::out, K::relu_mode, K::relu_threshold, false);
    }
  }
};

}  // namespace tt
