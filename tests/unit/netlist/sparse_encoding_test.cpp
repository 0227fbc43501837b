// SPDX-License-Identifier: Apache-2.0
// Index tiles of sparse matmuls: written, read back, and refused.
#include <buda/base/rng.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace buda::netlist {
namespace {

using testing::HasSubstr;

Op sparse_op(std::int32_t t, std::int32_t mblock_m, std::int32_t ublock_rt, std::int32_t u_kt, std::int32_t tile_bits,
             std::int32_t ublock_bits) {
  Op op;
  op.type = OpType::matmul;
  op.block = {t, mblock_m, 1, ublock_rt, 1};
  op.attributes.identity = true;
  op.attributes.u_kt = u_kt;
  op.attributes.sparse.sparse_tile_ptr_bits = tile_bits;
  op.attributes.sparse.sparse_ublock_idx_bits = ublock_bits;
  return op;
}

SparseGeometry geometry_of(const Op& op) {
  auto g = sparse_geometry(op);
  EXPECT_TRUE(std::holds_alternative<SparseGeometry>(g)) << std::get<std::string>(g);
  return std::get<SparseGeometry>(g);
}

std::vector<SparseProduct> round_trip(const SparseGeometry& g, const std::vector<SparseProduct>& products, std::size_t tile_bytes) {
  auto bytes = encode_sparse(g, products, tile_bytes);
  EXPECT_TRUE(std::holds_alternative<std::vector<std::uint8_t>>(bytes)) << std::get<std::string>(bytes);
  EXPECT_EQ(std::get<0>(bytes).size() % tile_bytes, 0u);
  auto back = decode_sparse(g, std::get<0>(bytes), tile_bytes);
  EXPECT_TRUE(std::holds_alternative<std::vector<SparseProduct>>(back)) << std::get<std::string>(back);
  return std::get<0>(back);
}

TEST(SparseEncoding, StripsHaveTheDocumentedBits) {
  // Two output matrices of 4 rows in ublocks of 2; strips of 3 activation tiles take 2 bits, the row in the ublock takes one.
  const auto g = geometry_of(sparse_op(2, 2, 2, 3, 10, 5));
  const std::vector<SparseProduct> products = {{0, 3, 4, 7, -1}, {1, 0, 0, 1, -1}};
  auto bytes = std::get<0>(encode_sparse(g, products, 4096));
  auto word = [&](std::size_t i) { return bytes[2 * i] | bytes[2 * i + 1] << 8; };
  EXPECT_EQ(word(0), 1);                      // strip 1: tiles 3 to 5
  EXPECT_EQ(word(1), 1 << 14);                // the last of matrix 0
  EXPECT_EQ(word(2), 1);                      // one ublock row
  EXPECT_EQ(word(3), 1 << 5 | 1);             // row 1, one tile
  EXPECT_EQ(word(4), 7 << 6 | (1 << 2 | 1));  // sparse tile 7, row 1 of the ublock, tile 1 of the strip
  EXPECT_EQ(word(5), 0);
  EXPECT_EQ(word(6), 1 << 14);
}

TEST(SparseEncoding, StripsComeBack) {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    const auto g = geometry_of(sparse_op(3, 3, 2, 5, 9, 0));
    std::vector<SparseProduct> products;
    for (std::int32_t t = 0; t < 3; ++t)
      for (std::int32_t strip = 0; strip < 20; ++strip)
        for (std::int32_t row = 0; row < 6; ++row)
          for (std::int32_t k = 0; k < 5; ++k)
            if (rng.below(4) == 0) products.push_back({t, row, strip * 5 + k, static_cast<std::int32_t>(rng.below(512)), -1});
    // Small tiles, so that strips go on in the next one.
    EXPECT_EQ(round_trip(g, products, 256), products);
  }
}

TEST(SparseEncoding, WordsComeBack) {
  Op op = sparse_op(1, 4, 2, 1, 0, 0);
  op.block.mblock_n = 2;
  op.attributes.sparse.indices_len = 200;
  op.attributes.sparse.starting_row = 5;
  const auto g = geometry_of(op);
  EXPECT_EQ(g.form, SparseGeometry::Form::words);
  Rng rng(5);
  std::vector<SparseProduct> products;
  for (std::int32_t block = 0; block < 6; ++block)
    for (std::int32_t n = 0; n < 2; ++n)
      for (std::int32_t r = 0; r < 2; ++r)
        for (std::uint64_t i = 0; i <= rng.below(3); ++i)
          products.push_back({0, products.empty() ? 5 : static_cast<std::int32_t>(rng.below(8)), block * 2 + r,
                              static_cast<std::int32_t>(rng.below(10)), n});
  EXPECT_EQ(round_trip(g, products, 4096), products);
}

TEST(SparseEncoding, WhatDoesNotFitIsRefused) {
  const auto wide = sparse_geometry(sparse_op(1, 2, 4, 16, 12, 4));
  ASSERT_TRUE(std::holds_alternative<std::string>(wide));
  EXPECT_THAT(std::get<std::string>(wide), HasSubstr("the 4 bits left cannot hold a place in 4 rows of 16 tiles"));
  const auto g = geometry_of(sparse_op(1, 2, 1, 1, 3, 1));
  EXPECT_THAT(std::get<std::string>(encode_sparse(g, std::vector<SparseProduct>{{0, 0, 0, 8, -1}}, 4096)), HasSubstr("sparse tile 8"));
  EXPECT_THAT(std::get<std::string>(encode_sparse(g, std::vector<SparseProduct>{{1, 0, 0, 0, -1}}, 4096)),
              HasSubstr("ascending order of t"));
}

TEST(SparseEncoding, AnyBytesGiveProductsOrASentence) {
  Rng rng(7);
  for (int round = 0; round < 3000; ++round) {
    Op op = sparse_op(2, 3, 2, 3, round % 2 == 0 ? 6 : 0, 4);
    if (round % 2 == 1) op.attributes.sparse.indices_len = 64;
    const auto g = geometry_of(op);
    std::vector<std::uint8_t> bytes(512);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(rng.below(3) == 0 ? rng.next() : 0);
    auto products = decode_sparse(g, bytes, 256);
    if (const auto* list = std::get_if<0>(&products))
      for (const auto& p : *list) {
        EXPECT_TRUE(p.t >= 0 && p.t < 2 && p.row >= 0 && p.row < 6 && p.act >= 0 && p.tile >= 0);
      }
  }
}

}  // namespace
}  // namespace buda::netlist
