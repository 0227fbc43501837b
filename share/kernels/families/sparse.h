// Products of sparse tiles and activation tiles, as index tiles list them.
//
// The unpack thread decodes the index tiles (strips, see buda/netlist/model/sparse_encoding.hpp) into a list for each row of output tiles:
// the activation row and the sparse tile of each product, in the order in which they are added. Where sums are rounded between strips, the
// list says so: there they wait in L1, and are read back. The other threads begin when the lists are there.
//
// Activations come block by block of the inner dimension. A row of blocks of the output begins when those that it needs have come, and what
// no later one needs is given back: so a ring need not hold all of them.
#pragma once

#include <families/matmul.h>

namespace tt {

// K: as of a matmul with `left` (sparse tiles) and `right` (activations), and `tile_bits`, `ublock_bits`, `inner_bits` of words of strips.
template <class K>
struct SparseKernel {
  enum : uint32_t { kRest = 0xffffffff };  // in a list: the sums wait here

  // In L1: where the list of each row begins, and one more; of the unpack thread the strip that added to a row last, and of each row of
  // blocks the first block of activations that it or a later one needs, and the one after its last; then the lists.
  static uint32_t row_count() { return arguments().matrices * arguments().block_rows * arguments().rows; }
  static volatile uint32_t& begin_of(uint32_t row) { return at(arguments().table + 4 * row); }
  static volatile uint32_t& strip_of(uint32_t row) { return at(arguments().table + 4 * (row_count() + 1 + row)); }
  static uint32_t group_count() { return arguments().matrices * arguments().block_rows; }
  static volatile uint32_t& first_block(uint32_t group) { return at(arguments().table + 4 * (2 * row_count() + 1 + group)); }
  static volatile uint32_t& end_block(uint32_t group) { return at(arguments().table + 4 * (2 * row_count() + 1 + group_count() + group)); }
  static volatile uint32_t& listed(uint32_t index) { return at(arguments().table + 4 * (2 * row_count() + 1 + 2 * group_count() + index)); }

  // Calls visit(row of output tiles, activation row, sparse tile, strip) for each product, after begin(row of blocks of the output, block
  // of activations) for all of them that are next to each other and have these in common.
  template <class Visit>
  static void for_products(const RingEnd& index, Visit visit) {
    for_products(
        index, [](uint32_t, uint32_t) {}, visit);
  }
  template <class Begin, class Visit>
  static void for_products(const RingEnd& index, Begin begin, Visit visit) {
    const uint32_t matrices = arguments().matrices, block_rows = arguments().block_rows, rows = arguments().rows,
                   inner_rows = arguments().inner;
    uint32_t tile = 0, word = index.address(0) + 16, strip_number = 0;
    const auto next = [&word]() {
      const uint32_t value = *reinterpret_cast<volatile uint16_t*>(word);
      word += 2;
      return value;
    };
    for (uint32_t t = 0; t < matrices; ++strip_number) {
      const uint32_t low = next(), head = low | next() << 16;
      const uint32_t strip = head & 0x3fffffff;
      for (uint32_t ublocks = next(); ublocks > 0; --ublocks) {
        const uint32_t code = next(), ublock = code & ((1u << K::ublock_bits) - 1);
        uint32_t tiles = code >> K::ublock_bits;
        if (tiles == 0) tiles = 1u << (16 - K::ublock_bits);
        const uint32_t group = t * block_rows + ublock, first_row = group * rows, first_activation = strip * inner_rows;
        begin(group, strip);
        for (; tiles > 0; --tiles) {
          const uint32_t product = next(), place = product & ((1u << (16 - K::tile_bits)) - 1);
          const uint32_t row = place >> K::inner_bits, inner = place & ((1u << K::inner_bits) - 1);
          visit(first_row + row, first_activation + inner, K::tile_bits == 0 ? 0 : product >> (16 - K::tile_bits), strip_number);
        }
      }
      if ((head >> 31 & 1) != 0) word = index.address(++tile) + 16;
      if ((head >> 30 & 1) != 0) ++t;
    }
  }

  static void decode(const RingEnd& index) {
    ZONE("decode");
    const uint32_t rows = row_count();
    uint32_t last_strip = 0;
    const auto forget = [rows]() {
      for (uint32_t row = 0; row < rows; ++row) strip_of(row) = kRest;
    };
    // A strip that adds to a row after another one is preceded by a rest.
    const auto rests = [](uint32_t row, uint32_t strip) {
      if constexpr (!K::spills) return false;
      const uint32_t before = strip_of(row);
      strip_of(row) = strip;
      return K::spills && before != kRest && before != strip;
    };
    for (uint32_t row = 0; row <= rows; ++row) begin_of(row) = 0;
    const uint32_t groups = group_count();
    for (uint32_t group = 0; group < groups; ++group) first_block(group) = kRest, end_block(group) = 0;
    forget();
    const auto note = [](uint32_t group, uint32_t block) {
      if (block < first_block(group)) first_block(group) = block;
      if (block >= end_block(group)) end_block(group) = block + 1;
    };
    for_products(index, note, [&](uint32_t row, uint32_t, uint32_t, uint32_t strip) {
      begin_of(row) = begin_of(row) + (rests(row, strip) ? 2 : 1);
      last_strip = strip;
    });
    for (uint32_t group = groups - 1; group > 0; --group)
      if (first_block(group) < first_block(group - 1)) first_block(group - 1) = first_block(group);
    // All but the sums of the very last strip are rounded once more at the end.
    uint32_t sum = 0;
    for (uint32_t row = 0; row < rows; ++row) {
      const uint32_t before = strip_of(row), count = begin_of(row) + (K::spills && before != kRest && before != last_strip ? 1 : 0);
      begin_of(row) = sum;
      sum += count;
    }
    begin_of(rows) = sum;
    volatile uint32_t* const lists = &listed(0);
    if constexpr (K::spills)
      for (uint32_t i = 0; i < sum; ++i) lists[i] = kRest;
    // begin_of() moves through each list, and back afterwards: every list ends where the next begins.
    forget();
    for_products(index, [&](uint32_t row, uint32_t activation, uint32_t tile, uint32_t strip) {
      uint32_t to = begin_of(row);
      if (rests(row, strip)) ++to;
      lists[to] = activation << 16 | tile;
      begin_of(row) = to + 1;
    });
    for (uint32_t row = 0; row < rows; ++row)
      if (K::spills && strip_of(row) != kRest && strip_of(row) != last_strip) begin_of(row) = begin_of(row) + 1;
    for (uint32_t row = rows; row > 0; --row) begin_of(row) = begin_of(row - 1);
    begin_of(0) = 0;
    // What was stored is in L1 when it can be read back.
    const uint32_t stored = begin_of(0);
    asm volatile("" : : "r"(stored));
    stream_register(arguments().buffers[0].stream, kArrived) = 1;
  }
  static void wait_for_lists() {
    while (stream_register(arguments().buffers[0].stream, kArrived) == 0) {
    }
  }

  // Calls visit(row of output tiles, column) for the tiles of the output, in its order.
  template <class Visit>
  static void for_outputs(Visit visit) {
    const volatile Arguments& a = arguments();
    const uint32_t block_rows = a.block_rows, block_cols = a.block_cols, rows = a.rows, cols = a.cols, matrices = a.matrices;
    for (uint32_t i = 0; i < matrices * block_rows; ++i)
      for (uint32_t j = 0; j < block_cols; ++j)
        for (uint32_t r = 0; r < rows; ++r)
          for (uint32_t c = 0; c < cols; ++c) visit(i * rows + r, j, c);
  }

  // The place of an activation tile: matrix by matrix, in each block by block, in a block row by row.
  static uint32_t activation_tile(uint32_t row, uint32_t block_col, uint32_t col) {
    const volatile Arguments& a = arguments();
    const uint32_t inner = a.inner, cols = a.cols, block = row / inner;
    return (block * a.block_cols + block_col) * inner * cols + row % inner * cols + col;
  }

  static void unpack() {
    begin_unpacking();
    set_destination<false>();
    configure_unpacker<kSrcA>(K::right);
    configure_unpacker<kSrcB>(K::left);
    const volatile Arguments& a = arguments();
    RingEnd left(a.inputs[0]), right(a.inputs[1]), index(a.inputs[2]), between(a.between);
    index.wait_for(a.round_tiles[2]);
    decode(index);
    ZONE("products");
    left.wait_for(a.round_tiles[0]);
    const uint32_t block_tiles = a.inner * a.block_cols * a.cols, all = a.round_tiles[1], ring_tiles = a.inputs[1].tiles;
    uint32_t taken = 0, group = kRest;
    const auto take_until = [&](uint32_t tile) {
      while (taken < tile) {
        const uint32_t more = tile - taken < ring_tiles ? tile - taken : ring_tiles;
        right.wait_for(more);
        right.take(more);
        taken += more;
      }
    };
    for_outputs([&](uint32_t row, uint32_t block_col, uint32_t col) {
      if (const uint32_t now = row / a.rows; now != group) {
        group = now;
        const uint32_t first = first_block(group), end = end_block(group) * block_tiles;
        take_until(first == kRest ? all : first * block_tiles);
        if (end > taken) right.wait_for(end - taken);
      }
      const uint32_t end = begin_of(row + 1);
      for (uint32_t i = begin_of(row); i < end; ++i) {
        const uint32_t product = listed(i);
        if (product == kRest) {
          between.wait_for(1);
          MatmulKernel<K>::template read_back<K::copy>(between.address(0));
          between.take(1);
        } else {
          unpack_pair<K::right.turned>(right.address(activation_tile(product >> 16, block_col, col) - taken),
                                       left.address(product & 0xffff));
        }
      }
    });
    take_until(all);
    left.take(a.round_tiles[0]);
    index.take(a.round_tiles[2]);
  }

  static void math() {
    using Products = MatmulKernel<K>;
    set_formats<K::right.unpacked, K::left.unpacked>();
    set_width<K::out.wide>();
    begin_math<K::slots>();
    Products::load_products();
    wait_for_lists();
    ZONE("products");
    uint32_t slot = 0;
    for_outputs([&](uint32_t row, uint32_t, uint32_t) {
      begin_tile<K::out.wide, K::slots>(slot);
      const uint32_t end = begin_of(row + 1);
      for (uint32_t i = begin_of(row); i < end; ++i) {
        if (listed(i) != kRest) {
          Products::multiply_tile();
          continue;
        }
        end_tile();
        slot ^= 1;
        begin_tile<K::out.wide, K::slots>(slot);
        set_formats<K::between.unpacked, K::between.unpacked>();
        Products::step_by_eight();
        copy_tile<K::copy>();
        Products::step_for_products();
        set_formats<K::right.unpacked, K::left.unpacked>();
      }
      end_tile();
      slot ^= 1;
    });
  }

  static void pack() {
    begin_packing();
    RingEnd out(arguments().output), between(arguments().between);
    wait_for_lists();
    ZONE("products");
    uint32_t slot = 0;
    const auto pack_to = [&slot](RingEnd& ring, uint32_t stored) {
      ring.wait_for_room(0);
      wait_idle();
      set_pack_address(ring.address(0), stored);
      config_written();
      pack_tile<K::slots>(slot);
      ring.put(1);
      slot ^= 1;
    };
    configure_packers(K::out, K::relu_mode, K::relu_threshold, adds<K>());
    for_outputs([&](uint32_t row, uint32_t, uint32_t) {
      if constexpr (K::spills) {
        const uint32_t end = begin_of(row + 1);
        for (uint32_t i = begin_of(row); i < end; ++i) {
          if (listed(i) != kRest) continue;
          wait_idle();
          configure_packers(K::partial, kNoRelu, 0, false);
          pack_to(between, K::partial.stored);
          wait_idle();
          configure_packers(K::out, K::relu_mode, K::relu_threshold, adds<K>());
        }
      }
      pack_to(out, K::out.stored);
    });
  }
};

}  // namespace tt
