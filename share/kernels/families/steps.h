// Ops that take several steps, or tiles in an order of their own: fused ops, reductions, maximum, splice.
//
// All tiles of a round are in L1 at the same time: the inputs' in their rings, the results of steps in buffers. A reduction of too many
// tiles for that takes them as they come (`as_they_come`), one after the other. A step makes tiles one after the other; a table in L1 says
// from which tiles it makes each. Its words: for each step the number of its tiles and how many entries each of them has, then these
// entries: in the upper half the operand (inputs from 0 on, buffers from kInputs on), in the lower the tile.
#pragma once

#include <families/matmul.h>

namespace tt {

enum class Step : uint32_t { copy, add, subtract, multiply, pair, reduce_rows, reduce_cols, reduce_depth, products };
enum class Spread : uint32_t { none, column, row };  // of the second operand, in the whole tile: its first column or row

// The table, as each thread goes through it.
class Table {
 public:
  Table() : next_(arguments().table) {}
  void rewind() { next_ = arguments().table; }
  uint32_t take() {
    const uint32_t word = at(next_);
    next_ += 4;
    return word;
  }
  void skip(uint32_t words) { next_ += 4 * words; }

 private:
  uint32_t next_;
};

// The maximum of a tile's columns into its first row, or of its rows into its first column; zeros elsewhere.
template <uint32_t format>
struct Reduction {
  template <uint32_t reg, uint32_t row>
  static void load() {
    issue<SFPLOAD::word | SFPLOAD::format(format) | SFPLOAD::addr_mod(kVectorStay) | SFPLOAD::lreg(reg) | SFPLOAD::row(row)>();
  }
  template <uint32_t reg, uint32_t row>
  static void store() {
    issue<SFPSTORE::word | SFPSTORE::format(format) | SFPSTORE::addr_mod(kVectorStay) | SFPSTORE::lreg(reg) | SFPSTORE::row(row)>();
  }
  // Register 0 = the larger of it and register `other`.
  template <uint32_t other>
  static void keep_larger() {
    issue<SFPSWAP::word | SFPSWAP::mod(1) | SFPSWAP::vd(other) | SFPSWAP::vc(0)>();
    issue<SFPNOP::word>();
  }
  template <uint32_t from>
  static void rotate() {
    issue<SFPSHFT2::word | SFPSHFT2::mod(3) | SFPSHFT2::vd(1) | SFPSHFT2::vc(from)>();
    issue<SFPNOP::word>();
  }
  template <uint32_t row>
  static void load_and_keep_larger() {
    load<1, row>();
    keep_larger<1>();
  }

  // Of a row of each 4 rows from `row` on: 32 columns are in the 8 lanes of 4 registers.
  template <uint32_t row>
  static void rows() {
    load<0, row>();
    load_and_keep_larger<row + 2>();
    load_and_keep_larger<row + 16>();
    load_and_keep_larger<row + 18>();
    rotate<0>(), keep_larger<1>();
    rotate<0>(), rotate<1>(), keep_larger<1>();
    rotate<0>(), rotate<1>(), rotate<1>(), rotate<1>(), keep_larger<1>();
    issue<SFPLOADI::word | SFPLOADI::format(2) | SFPLOADI::lreg(1) | SFPLOADI::immediate(14)>();
    issue<SFPAND::word | SFPAND::vd(1) | SFPAND::vc(15)>();
    keep_where_zero();
    store<0, row>(), store<9, row + 2>(), store<9, row + 16>(), store<9, row + 18>();
  }
  // Register 0 stays in the lanes in which register 1 is 0.
  static void keep_where_zero() {
    issue<SFPPUSHC::word>();
    issue<SFPSETCC::word | SFPSETCC::mod(2) | SFPSETCC::vc(1)>();
    issue<SFPLOADI::word | SFPLOADI::lreg(0)>();
    issue<SFPPOPC::word>();
  }

  template <uint32_t row>
  static void fold() {
    load_and_keep_larger<row>();
    store<9, row>();
  }
  template <uint32_t row>
  static void columns() {
    load<0, row>();
    fold<row + 4>(), fold<row + 8>(), fold<row + 12>();
    fold<row + 32>(), fold<row + 36>(), fold<row + 40>(), fold<row + 44>();
    // Four rows are left, which become the first rows of four registers.
    issue<SFPTRANSP::word>();
    keep_larger<1>(), keep_larger<2>(), keep_larger<3>();
    issue<SFPMOV::word | SFPMOV::vd(1) | SFPMOV::vc(15)>();
    issue<SFPSHFT::word | SFPSHFT::mod(1) | SFPSHFT::vd(1) | SFPSHFT::immediate(4096 - 4)>();
    keep_where_zero();
    store<0, row>();
  }

  static void begin() {
    begin_vector();
    issue<STALLWAIT::word | STALLWAIT::blocked(kBlockVectorUnit) | STALLWAIT::conditions(kWaitMatrixUnit)>();
    rewind<0>();
  }
  static void end() { issue<STALLWAIT::word | STALLWAIT::blocked(kBlockVectorAndMatrixUnit) | STALLWAIT::conditions(kWaitVectorUnit)>(); }
  static void reduce_rows() {
    begin();
    columns<0>(), columns<2>(), columns<16>(), columns<18>();
    end();
  }
  static void reduce_cols() {
    begin();
    rows<0>(), rows<4>(), rows<8>(), rows<12>();
    rows<32>(), rows<36>(), rows<40>(), rows<44>();
    end();
  }
};

// K: `slots`, `wide`, `steps`, and for_steps(visit), which calls visit(S()) for each step. S: `kind` (Step), `a`, `b` (Operand), `a_copy`,
// `b_copy` (Copy), `spread` (Spread), `phases`, `program` (Program), `waits` (for the steps before), `last` (its tiles leave),
// `as_they_come`, `out` (Packed), `relu_mode`, `relu_threshold`.
template <class K>
struct StepsKernel {
  struct Inputs {
    RingEnd end[kInputs] = {of(0), of(1), of(2),  of(3),  of(4),  of(5),  of(6),  of(7),
                            of(8), of(9), of(10), of(11), of(12), of(13), of(14), of(15)};
    static RingEnd of(uint32_t i) { return RingEnd(arguments().inputs[i]); }

    uint32_t address(uint32_t entry) const {
      const uint32_t operand = entry >> 16, tile = entry & 0xffff;
      if (operand < kInputs) return end[operand].address(tile);
      const volatile Ring& buffer = arguments().buffers[operand - kInputs];
      return buffer.address + tile * buffer.tile_bytes;
    }
  };

  static constexpr bool is_reduction(Step kind) {
    return kind == Step::reduce_rows || kind == Step::reduce_cols || kind == Step::reduce_depth;
  }
  static constexpr bool is_pair(Step kind) {
    return kind == Step::add || kind == Step::subtract || kind == Step::multiply || kind == Step::products;
  }

  static void unpack_copy(Copy how, uint32_t tile_address, uint32_t dest_tile) {
    if (how == Copy::add) zeros_in_b();
    if (how == Copy::to_dest) {
      wait_semaphore<kToDestSemaphore, kWhileZero>();
      issue<SEMGET::word | SEMGET::semaphores(kToDestSemaphore)>();
      wait_idle();
      set_destination_tile(dest_tile);
    }
    unpack_one(tile_address);
  }

  template <class S>
  static void unpack_tile_of(Table& table, Inputs& inputs, uint32_t entries) {
    if constexpr (S::kind == Step::copy) {
      unpack_copy(S::a_copy, inputs.address(table.take()), 0);
    } else if constexpr (S::kind == Step::pair) {
      wait_idle();
      set_destination_tile(0);
      configure_unpacker<kSrcA>(S::a);
      set_destination<S::a.to_dest>();
      unpack_copy(S::a_copy, inputs.address(table.take()), 0);
      wait_idle();
      configure_unpacker<kSrcA>(S::b);
      set_destination<S::b.to_dest>();
      unpack_copy(S::b_copy, inputs.address(table.take()), 1);
    } else if constexpr (is_reduction(S::kind) && S::as_they_come) {
      for (uint32_t i = 0; i < entries; ++i) {
        inputs.end[0].wait_for(1);
        unpack_copy(S::a_copy, inputs.address(table.take()), i == 0 ? 0 : 1);
        inputs.end[0].take(1);
      }
    } else if constexpr (is_reduction(S::kind)) {
      for (uint32_t i = 0; i < entries; ++i) unpack_copy(S::a_copy, inputs.address(table.take()), i == 0 ? 0 : 1);
    } else {
      for (uint32_t i = 0; i < entries; i += 2) {
        const uint32_t first = inputs.address(table.take()), second = inputs.address(table.take());
        // Of a product the first operand is in SrcB.
        S::kind == Step::products ? unpack_pair(second, first) : unpack_pair(first, second);
      }
    }
  }

  static void unpack() {
    begin_unpacking();
    Inputs inputs;
    Table table;
    const volatile Arguments& a = arguments();
    uint32_t packed = 0;  // steps
    for (uint32_t round = a.rounds; round > 0; --round) {
      ZONE("round");
      for (uint32_t i = 0; i < a.input_count; ++i) inputs.end[i].wait_for(a.round_tiles[i]);
      table.rewind();
      K::for_steps([&](auto step) {
        using S = decltype(step);
        ZONE("step");
        if constexpr (S::waits)
          while (((stream_register(a.buffers[0].stream, kArrived) - packed) & 0x8000) != 0) {
          }
        ++packed;
        wait_idle();
        set_destination_tile(0);
        set_destination<S::kind != Step::pair && S::a.to_dest>();
        if constexpr (S::kind == Step::products) {
          configure_unpacker<kSrcA>(S::b);
          configure_unpacker<kSrcB>(S::a);
        } else {
          configure_unpacker<kSrcA>(S::a);
          if constexpr (is_pair(S::kind)) configure_unpacker<kSrcB>(S::b);
        }
        const uint32_t tiles = table.take(), entries = table.take();
        for (uint32_t n = tiles; n > 0; --n) unpack_tile_of<S>(table, inputs, entries);
      });
      for (uint32_t i = 0; i < a.input_count; ++i) inputs.end[i].take(a.round_tiles[i]);
    }
  }

  // Eight rows of the operands at a time. The second one's: all after each other, or, with its first column in all columns, the left faces
  // twice, or, with its first row in all rows, the first rows of the upper faces again and again.
  template <Spread spread>
  static void step_through() {
    if constexpr (spread == Spread::none) set_address_mod<0, 8, 8, 8>();
    if constexpr (spread == Spread::column) {
      set_address_mod<0, 8, 8, 8>();
      set_address_mod<1, 8, 56, 8>();
      set_address_mod<2, 8, 24, 8>();
    }
    if constexpr (spread == Spread::row) {
      set_address_mod<0, 8, 0, 8>();
      set_address_mod<1, 8, 16, 8>();
      set_address_mod<2, 8, 48, 8>();
    }
  }
  template <class S, uint32_t addr_mod>
  static void eight_rows() {
    constexpr uint32_t broadcast = static_cast<uint32_t>(S::spread);
    if constexpr (S::kind == Step::add) issue<ELWADD::word | ELWADD::broadcast(broadcast) | ELWADD::addr_mod(addr_mod)>();
    if constexpr (S::kind == Step::subtract) issue<ELWSUB::word | ELWSUB::broadcast(broadcast) | ELWSUB::addr_mod(addr_mod)>();
    if constexpr (S::kind == Step::multiply) issue<ELWMUL::word | ELWMUL::broadcast(broadcast) | ELWMUL::addr_mod(addr_mod)>();
  }
  template <class S>
  static void whole_tile() {
    if constexpr (S::spread == Spread::none)
      for (uint32_t i = 0; i < 8; ++i) eight_rows<S, 0>();
    if constexpr (S::spread == Spread::column) {
      eight_rows<S, 0>(), eight_rows<S, 1>(), eight_rows<S, 0>(), eight_rows<S, 2>();
      eight_rows<S, 0>(), eight_rows<S, 1>(), eight_rows<S, 0>(), eight_rows<S, 0>();
    }
    if constexpr (S::spread == Spread::row)
      for (uint32_t half = 0; half < 2; ++half) {
        eight_rows<S, 0>(), eight_rows<S, 1>();
        eight_rows<S, 0>(), eight_rows<S, 2>();
      }
  }
  template <class S, uint32_t phase>
  static void multiply_phase() {
    if constexpr ((S::phases >> phase & 1) != 0) {
      set_phase<phase>();
      rewind<0>();
      whole_tile<S>();
    }
  }

  template <class S>
  static void compute(uint32_t entries) {
    if constexpr (S::kind == Step::copy) {
      copy_tile<S::a_copy>();
      apply_program<S>();
    } else if constexpr (S::kind == Step::add || S::kind == Step::subtract) {
      whole_tile<S>();
      rewind<3>();
    } else if constexpr (S::kind == Step::multiply) {
      multiply_phase<S, 3>(), multiply_phase<S, 2>(), multiply_phase<S, 1>(), multiply_phase<S, 0>();
      rewind<3>();
    } else if constexpr (S::kind == Step::products) {
      for (uint32_t i = 0; i < entries; i += 2) MatmulKernel<S>::multiply_tile();
    } else {
      copy_tile<S::a_copy>();
      for (uint32_t i = 1; i < entries; ++i) {
        use_slot<1>();
        copy_tile<S::b_copy>();
        use_slot<0>();
        apply_program<S, true>();
      }
      if constexpr (S::kind == Step::reduce_rows) Reduction<S::program.load>::reduce_rows();
      if constexpr (S::kind == Step::reduce_cols) Reduction<S::program.load>::reduce_cols();
    }
  }

  static void math() {
    set_width<K::wide>();
    begin_math<K::slots>();
    Table table;
    uint32_t slot = 0;
    for (uint32_t round = arguments().rounds; round > 0; --round) {
      ZONE("round");
      table.rewind();
      K::for_steps([&](auto step) {
        using S = decltype(step);
        ZONE("step");
        if constexpr (S::kind == Step::products) {
          set_formats<S::b.unpacked, S::a.unpacked>();
          MatmulKernel<S>::load_products();
        } else {
          set_formats<S::a.unpacked, S::b.unpacked>();
          step_through<S::spread>();
        }
        const uint32_t tiles = table.take(), entries = table.take();
        table.skip(tiles * entries);
        for (uint32_t n = tiles; n > 0; --n, slot ^= 1) {
          begin_tile<K::wide, K::slots>(slot);
          compute<S>(entries);
          end_tile();
        }
      });
    }
  }

  static void pack() {
    begin_packing();
    const volatile Arguments& a = arguments();
    RingEnd out(a.output);
    Table table;
    uint32_t slot = 0, packed = 0;
    for (uint32_t round = a.rounds; round > 0; --round) {
      ZONE("round");
      table.rewind();
      K::for_steps([&](auto step) {
        using S = decltype(step);
        ZONE("step");
        wait_idle();
        configure_packers(S::out, S::relu_mode, S::relu_threshold, S::last && adds<S>());
        const uint32_t tiles = table.take(), entries = table.take();
        table.skip(tiles * entries);
        for (uint32_t n = 0; n < tiles; ++n, slot ^= 1) {
          uint32_t tile = a.buffers[S::buffer].address + n * a.buffers[S::buffer].tile_bytes;
          if constexpr (S::last) {
            out.wait_for_room(0);
            tile = out.address(0);
          }
          wait_idle();
          set_pack_address(tile, S::out.stored);
          config_written();
          pack_tile<K::slots>(slot);
          if constexpr (S::last) out.put(1);
        }
        store_counter(a.buffers[0].stream, kArrived, ++packed, kWaitPackers);
      });
    }
  }
};

}  // namespace tt
