// Products of matrices of tiles.
//
// For each matrix of the output, block by block of the inner dimension: every tile of the output is the sum of the products of its row of
// in0's block and its column of in1's. Between blocks the sums wait in L1, in the intermediate format: the next block's sums are added to
// them when they are complete, by the matrix unit or, with K::sums_in_l1, by the packers, so that each block rounds a long sum once. Sums
// of 32 bits that the unpacker puts into the destination are read back before the block. Where more is to be done with the sums (read them
// back, add a bias), a last round over them does it: also where what the output has from earlier inputs (K::previous) is added, in a format
// that packers do not add up, and where integers are scaled. Sums of integers begin with the bias.
//
// Products of one tile: in0's faces are in SrcB, in1's in SrcA. The phases of the leading bits come last: what the others add is small, and
// so is what they round, as long as the sum is. In each phase first all with the left half of in0's tile, then with the right half: the
// order in which numbers are added is part of the result.
#pragma once

#include <families/copy.h>

namespace tt {

enum class Round : uint32_t { none, copy, bias, previous, scale };

// K: `left` (in0), `right` (in1), `between` (the sums, as they are read back), `sums` (the same, as an operand of a sum), `bias` (Operand;
// with Round::previous the output), `begins_with_bias` (which is an operand as the sums are), `copy` (Copy, of the sums), `spills` (there
// is more than one block), `goes_on` (each block where the one before has ended), `sums_in_l1`, `round` (Round), `phases`, `slots`,
// `program` (Program, of the vector unit, at the end), `whole` (Packed, of sums to which the output's earlier ones are added), `out` and
// `partial` (Packed), `relu_mode`, `relu_threshold`.
template <class K>
struct MatmulKernel {
  static constexpr bool last_packs_out = K::round == Round::none;  // the last block's sums are the result

  // Calls visit(row, block column, column in it) for the tiles of a matrix of the output, in its order: blocks row by row, and so in each.
  template <class Visit>
  static void for_tiles(Visit visit) {
    const volatile Arguments& a = arguments();
    const uint32_t block_rows = a.block_rows, block_cols = a.block_cols, rows = a.rows, cols = a.cols;
    for (uint32_t i = 0; i < block_rows; ++i)
      for (uint32_t j = 0; j < block_cols; ++j)
        for (uint32_t r = 0; r < rows; ++r)
          for (uint32_t c = 0; c < cols; ++c) visit(i * rows + r, j, c);
  }

  // How a block's sums become those of all blocks so far: the destination begins with what waits, or that is added to it.
  static constexpr bool begins_with_sums = K::goes_on || K::copy == Copy::to_dest;
  static constexpr Copy back = begins_with_sums ? K::copy : Copy::add_to;

  template <Copy how>
  static void read_back(uint32_t tile) {
    if constexpr (how == Copy::add || how == Copy::add_to) zeros_in_b();
    if constexpr (how == Copy::to_dest) {
      wait_semaphore<kToDestSemaphore, kWhileZero>();
      issue<SEMGET::word | SEMGET::semaphores(kToDestSemaphore)>();
    }
    wait_idle();
    set_destination<K::between.to_dest>();
    configure_unpacker<kSrcA>(K::between);
    set_base<kSrcA>(tile);
    config_written();
    unpack_tile<kSrcA>();
    wait_idle();
    set_destination<false>();
    configure_unpacker<kSrcA>(K::right);
  }

  // A tile of 32 bits to a tile of the destination.
  static void unpack_to(uint32_t dest_tile, Operand operand, uint32_t tile) {
    wait_semaphore<kToDestSemaphore, kWhileZero>();
    issue<SEMGET::word | SEMGET::semaphores(kToDestSemaphore)>();
    wait_idle();
    set_destination_tile(dest_tile);
    configure_unpacker<kSrcA>(operand);
    unpack_one(tile);
  }

  // `operand`: of the bias or the scales, if there are any.
  static void unpack_round(RingEnd& between, RingEnd& operand, RingEnd& out) {
    ZONE("round");
    wait_idle();
    configure_unpacker<kSrcA>(K::round == Round::previous ? K::bias : K::round == Round::bias ? K::sums : K::between);
    if constexpr (K::round == Round::previous) configure_unpacker<kSrcB>(K::sums);
    if constexpr (K::round == Round::bias) configure_unpacker<kSrcB>(K::bias);
    set_destination<(K::round == Round::copy || K::round == Round::scale) && K::between.to_dest>();
    for (uint32_t n = arguments().tiles; n > 0; --n) {
      between.wait_for(1);
      if constexpr (K::round == Round::previous) {
        out.wait_for_room(0);
        unpack_pair(out.address(0), between.address(0));
        out.pass(1);
      } else if constexpr (K::round == Round::bias) {
        operand.wait_for(1);
        unpack_pair(between.address(0), operand.address(0));
        operand.take(1);
      } else if constexpr (K::round == Round::scale) {
        operand.wait_for(1);
        unpack_to(0, K::between, between.address(0));
        unpack_to(1, {kFloat32, kFloat32, true}, operand.address(0));
        operand.take(1);
      } else {
        if constexpr (K::copy == Copy::add) zeros_in_b();
        if constexpr (K::copy == Copy::to_dest) {
          wait_semaphore<kToDestSemaphore, kWhileZero>();
          issue<SEMGET::word | SEMGET::semaphores(kToDestSemaphore)>();
        }
        unpack_one(between.address(0));
      }
      between.take(1);
    }
    wait_idle();
    set_destination<false>();
    set_destination_tile(0);
    configure_unpacker<kSrcA>(K::right);
    configure_unpacker<kSrcB>(K::left);
  }

  // The bias, or what the block before has left: into the destination before block `block`, or added to the block's sums after it.
  static bool reads_back(uint32_t block) { return (K::begins_with_bias && block == 0) || (K::spills && !K::sums_in_l1 && block > 0); }
  static bool reads_before(uint32_t block) { return begins_with_sums && reads_back(block); }
  static bool reads_after(uint32_t block) { return !begins_with_sums && reads_back(block); }

  static void unpack() {
    begin_unpacking();
    set_destination<false>();
    configure_unpacker<kSrcA>(K::right);
    configure_unpacker<kSrcB>(K::left);
    const volatile Arguments& a = arguments();
    const uint32_t inner = a.inner, cols = a.cols, left_tiles = a.block_rows * a.rows * inner, right_tiles = a.block_cols * inner * cols;
    // One end of each ring: what is not there is the last, which no matmul has.
    constexpr bool scales_alone = K::round == Round::scale && !K::begins_with_bias;
    RingEnd left(a.inputs[0]), right(a.inputs[1]), between(a.between), bias(a.inputs[scales_alone ? kInputs - 1 : 2]),
        scales(a.inputs[K::begins_with_bias ? 3
                        : scales_alone      ? 2
                                            : kInputs - 1]),
        out(a.output);
    for (uint32_t matrix = a.matrices; matrix > 0; --matrix) {
      for (uint32_t block = 0; block < a.blocks; ++block) {
        ZONE("block");
        left.wait_for(left_tiles);
        right.wait_for(right_tiles);
        const auto read_sums = [&]() {
          RingEnd& sums = K::begins_with_bias && block == 0 ? bias : between;
          sums.wait_for(1);
          read_back<back>(sums.address(0));
          sums.take(1);
        };
        for_tiles([&](uint32_t row, uint32_t block_col, uint32_t col) {
          if (reads_before(block)) read_sums();
          for (uint32_t k = 0; k < inner; ++k)
            unpack_pair<K::right.turned>(right.address((block_col * inner + k) * cols + col), left.address(row * inner + k));
          if (reads_after(block)) read_sums();
        });
        left.take(left_tiles);
        right.take(right_tiles);
      }
      if constexpr (K::round != Round::none) unpack_round(between, K::round == Round::scale ? scales : bias, out);
    }
  }

  template <uint32_t dst, uint32_t addr_mod>
  static void product() {
    issue<MVMUL::word | MVMUL::dst(dst) | MVMUL::addr_mod(addr_mod)>();
  }

  // SrcB's rows follow each other in the order 0, 8, 32, 40 (the left half's faces) and 16, 24, 48, 56, SrcA's faces one by one.
  static void load_products() {
    step_for_products();
    issue<REPLAY::word | REPLAY::load(1) | REPLAY::start(0) | REPLAY::length(16)>();
    product<0, 0>(), product<8, 1>(), product<32, 0>(), product<40, 2>();
    product<16, 0>(), product<24, 1>(), product<48, 0>(), product<56, 3>();
    product<0, 0>(), product<8, 1>(), product<32, 0>(), product<40, 2>();
    product<16, 0>(), product<24, 1>(), product<48, 0>(), product<56, 0>();
  }

  template <uint32_t phase>
  static void multiply_phase() {
    if constexpr ((K::phases >> phase & 1) != 0) {
      set_phase<phase>();
      rewind<0>();
      issue<REPLAY::word | REPLAY::start(0) | REPLAY::length(16)>();
    }
  }

  static void multiply_tile() {
    multiply_phase<3>();
    multiply_phase<2>();
    multiply_phase<1>();
    multiply_phase<0>();
    rewind<3>();
  }

  static void step_for_products() {
    set_address_mod<0, 0, 8, 0>();
    set_address_mod<1, 0, 24, 0>();
    set_address_mod<2, 16, 24, 0>();
    set_address_mod<3, 16, 40, 0>();
  }
  // Of the sums in SrcA, and what is in SrcB: 8 rows of each and of the destination at a time.
  static void step_by_eight() { set_address_mod<0, 8, 8, 8>(); }
  static constexpr uint32_t moved_format = K::between.unpacked;

  static void take_sums() {
    set_formats<moved_format, moved_format>();
    step_by_eight();
    copy_tile<back>();
    step_for_products();
    set_formats<K::right.unpacked, K::left.unpacked>();
  }

  static void math() {
    set_formats<K::right.unpacked, K::left.unpacked>();
    set_width<K::out.wide>();
    begin_math<K::slots>();
    load_products();
    const volatile Arguments& a = arguments();
    const uint32_t inner = a.inner, tiles = a.tiles;
    uint32_t slot = 0;
    for (uint32_t matrix = a.matrices; matrix > 0; --matrix) {
      for (uint32_t block = 0; block < a.blocks; ++block) {
        ZONE("block");
        for (uint32_t n = tiles; n > 0; --n, slot ^= 1) {
          begin_tile<K::out.wide, K::slots>(slot);
          if (reads_before(block)) take_sums();
          for (uint32_t k = 0; k < inner; ++k) multiply_tile();
          if (reads_after(block)) take_sums();
          if constexpr (K::program.count > 0 && last_packs_out) {
            if (block + 1 == a.blocks) {
              apply_program<K>();
              step_for_products();
            }
          }
          end_tile();
        }
      }
      if constexpr (K::round != Round::none) {
        ZONE("round");
        if constexpr (K::round == Round::previous) {
          set_formats<K::bias.unpacked, K::sums.unpacked>();
        } else if constexpr (K::round == Round::bias) {
          set_formats<K::sums.unpacked, K::bias.unpacked>();
        } else {
          set_formats<moved_format, moved_format>();
        }
        step_for_round();
        for (uint32_t n = tiles; n > 0; --n, slot ^= 1) {
          begin_tile<K::out.wide, K::slots>(slot);
          if constexpr (K::round == Round::previous) {
            for (uint32_t i = 0; i < 8; ++i) issue<ELWADD::word | ELWADD::addr_mod(0)>();
            rewind<3>();
          } else if constexpr (K::round == Round::copy) {
            copy_tile<K::copy>();
          } else if constexpr (K::round == Round::scale) {
            copy_tile<K::copy>();
            use_slot<1>();
            copy_tile<Copy::to_dest>();
            use_slot<0>();
          } else {
            add_bias();
          }
          if constexpr (K::program.count > 0) {
            apply_program<K, K::round == Round::scale>();
            step_for_round();
          }
          end_tile();
        }
        step_for_products();
        set_formats<K::right.unpacked, K::left.unpacked>();
      }
    }
  }

  // Row 0 of the tile in SrcB to all rows of the sums in SrcA. That row is the first of face 0 and of face 1, which is row 16: of two faces
  // each the first takes one, the second the other.
  static void step_for_bias() {
    set_address_mod<0, 8, 0, 8>();
    set_address_mod<1, 8, 16, 8>();
    set_address_mod<2, 8, 48, 8>();
  }
  static void step_for_round() { K::round == Round::bias ? step_for_bias() : step_by_eight(); }
  template <uint32_t addr_mod>
  static void add_row() {
    issue<ELWADD::word | ELWADD::broadcast(2) | ELWADD::addr_mod(addr_mod)>();
  }
  static void add_bias() {
    for (uint32_t half = 0; half < 2; ++half) {
      add_row<0>(), add_row<1>();
      add_row<0>(), add_row<2>();
    }
    rewind<3>();
  }

  static void pack() {
    begin_packing();
    const volatile Arguments& a = arguments();
    const uint32_t tiles = a.tiles, blocks = a.blocks;
    RingEnd out(a.output), between(a.between);
    uint32_t slot = 0;
    // `counts`: the tiles are complete, and may be read.
    const auto pack_all = [&](RingEnd& ring, uint32_t stored, bool counts) {
      for (uint32_t n = 0; n < tiles; ++n, slot ^= 1) {
        const uint32_t ahead = counts ? 0 : n;
        ring.wait_for_room(ahead);
        wait_idle();
        set_pack_address(ring.address(ahead), stored);
        config_written();
        pack_tile<K::slots>(slot);
        if (counts) ring.put(1);
      }
    };
    for (uint32_t matrix = a.matrices; matrix > 0; --matrix) {
      for (uint32_t block = 0; block < blocks; ++block) {
        ZONE("block");
        const bool last = block + 1 == blocks;
        wait_idle();
        if (last && last_packs_out) {
          configure_packers(K::out, K::relu_mode, K::relu_threshold, adds<K>());
          pack_all(out, K::out.stored, true);
        } else {
          // What is added at the end is not rounded before.
          constexpr Packed whole = K::round == Round::previous ? K::whole : K::partial;
          configure_packers(last ? whole : K::partial, kNoRelu, 0, K::sums_in_l1 && block > 0);
          pack_all(between, last ? whole.stored : K::partial.stored, last || !K::sums_in_l1);
        }
      }
      if constexpr (!last_packs_out) {
        ZONE("round");
        wait_idle();
        configure_packers(K::out, K::relu_mode, K::relu_threshold, adds<K>());
        pack_all(out, K::out.stored, true);
      }
    }
  }
};

}  // namespace tt
