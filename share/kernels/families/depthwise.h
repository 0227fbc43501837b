// Products of which each column of tiles has its own inner dimension.
//
// As with a matmul, the sums of all tiles of the output take one block of the inner dimension after the other. A block of the left operand
// has as many tiles as the output for each step of the inner dimension: column by column, since they arrive so. Of blocks there are so many
// that one of them fits into L1; between them the sums wait there, in the destination's own format, so that they do not depend on it.
#pragma once

#include <families/matmul.h>

namespace tt {

// K: as of a matmul without a bias and without a last round, whose blocks go on.
template <class K>
struct DepthwiseKernel : MatmulKernel<K> {
  static void unpack() {
    using Products = MatmulKernel<K>;
    begin_unpacking();
    set_destination<false>();
    configure_unpacker<kSrcA>(K::right);
    configure_unpacker<kSrcB>(K::left);
    const volatile Arguments& a = arguments();
    const uint32_t inner = a.inner, cols = a.cols, height = a.block_rows * a.rows, width = a.block_cols * cols;
    const uint32_t left_tiles = inner * height * width, right_tiles = inner * width;
    RingEnd left(a.inputs[0]), right(a.inputs[1]), between(a.between);
    for (uint32_t matrix = a.matrices; matrix > 0; --matrix)
      for (uint32_t block = 0; block < a.blocks; ++block) {
        ZONE("block");
        left.wait_for(left_tiles);
        right.wait_for(right_tiles);
        Products::for_tiles([&](uint32_t row, uint32_t block_col, uint32_t col) {
          if (Products::reads_back(block)) {
            between.wait_for(1);
            Products::template read_back<Products::back>(between.address(0));
            between.take(1);
          }
          for (uint32_t k = 0; k < inner; ++k) {
            const uint32_t column = k * a.block_cols + block_col;
            unpack_pair<K::right.turned>(right.address(column * cols + col), left.address((column * height + row) * cols + col));
          }
        });
        left.take(left_tiles);
        right.take(right_tiles);
      }
  }
};

}  // namespace tt
