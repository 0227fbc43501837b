// SPDX-License-Identifier: Apache-2.0
// Bytes of tiles, against a packer that follows the description literally.
#include <buda/tensor/formats/tile_layout.hpp>

#include "reference_formats.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

namespace buda {
namespace {

constexpr TileDim kTileLayoutTileDims[] = {{32, 32}, {16, 32}, {32, 16}, {8, 32}, {4, 32}, {2, 32}, {1, 32}};

// Where datum (r, c) comes in a tile's memory, and which group of 16 it is in.
std::size_t position(DataFormat f, TileDim dim, int r, int c) {
  if (is_raw(f)) return static_cast<std::size_t>(r * dim.cols + c);
  int faces_across = dim.cols / 16;
  int face = (r / 16) * faces_across + c / 16;
  int face_rows = std::min(dim.rows, 16);
  return static_cast<std::size_t>(face * face_rows * 16 + (r % 16) * 16 + c % 16);
}

void put_bits(std::string& bytes, std::size_t bit, int count, std::uint32_t value) {
  for (int i = 0; i < count; ++i)
    if ((value >> i & 1) != 0)
      bytes[(bit + static_cast<std::size_t>(i)) / 8] |= static_cast<char>(1 << ((bit + static_cast<std::size_t>(i)) % 8));
}

std::string expected_tile(DataFormat f, TileDim dim, int alignment, const std::vector<float>& v) {
  int bits = bits_per_datum(f);
  std::string bytes(static_cast<std::size_t>(tile_bytes(f, dim, alignment)), '\0');
  put_bits(bytes, 0, 32, static_cast<std::uint32_t>(bytes.size() / 16));
  std::size_t start = 16 + static_cast<std::size_t>(tile_exponent_bytes(f, dim));
  for (int r = 0; r < dim.rows; ++r)
    for (int c = 0; c < dim.cols; c += 16) {
      auto first = v.begin() + r * dim.cols + c;
      std::vector<float> row(first, first + 16);
      reference::Group g = is_bfp(f) ? reference::group(f, row) : reference::Group{};
      for (int i = 0; i < 16; ++i) {
        std::size_t at = position(f, dim, r, c + i);
        auto k = static_cast<std::size_t>(i);
        std::uint32_t datum = 0;
        if (is_bfp(f)) {
          bytes[16 + at / 16] = static_cast<char>(g.exponent);
          datum = static_cast<std::uint32_t>(g.magnitude[k]) | (g.negative[k] ? 1u << (bits - 1) : 0);
        } else {
          datum = reference::datum(f, reference::value(f, row[k]));
        }
        put_bits(bytes, start * 8 + at * static_cast<std::size_t>(bits), bits, datum);
      }
    }
  return bytes;
}

std::vector<float> test_values(TileDim dim, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v;
  for (int i = 0; i < dim.datums(); ++i) v.push_back(static_cast<float>(std::ldexp(rng.uniform(-1, 1), static_cast<int>(rng.below(18)))));
  return v;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

TEST(TileLayout, EveryFormatAndShape) {
  for (DataFormat f : netlist_formats())
    for (TileDim dim : kTileLayoutTileDims)
      for (int alignment : {32, 64}) {
        TileLayout layout{f, dim, alignment};
        auto rows = static_cast<std::size_t>(dim.rows), cols = static_cast<std::size_t>(dim.cols);
        std::vector<float> v = test_values(dim, 1 + format_code(f));
        auto packed = pack_matrix(layout, std::span<const float>(v), rows, cols);
        ASSERT_TRUE(packed);
        ASSERT_EQ(hex(*packed), hex(expected_tile(f, dim, alignment, v))) << format_name(f) << ' ' << dim.rows << 'x' << dim.cols;

        std::vector<float> back(v.size(), -99.0f);
        ASSERT_TRUE(unpack_matrix(layout, *packed, std::span<float>(back), rows, cols));
        std::vector<float> quantized = v;
        quantize_to_format(quantized, rows, cols, f);
        ASSERT_EQ(back, quantized) << format_name(f) << ' ' << dim.rows << 'x' << dim.cols;
      }
}

TEST(TileLayout, ByHand) {
  // 1x32 Bfp8_b: header of 64/16 units; two groups with exponents 127 and 129; 1.5 is 96/64, -0.5 is 32/64 with a sign.
  std::vector<float> v(32, 0.0f);
  v[0] = 1.5f;
  v[1] = -0.5f;
  v[31] = 4.0f;
  auto tile = pack_matrix({DataFormat::bfp8_b, {1, 32}}, std::span<const float>(v), 1, 32);
  ASSERT_TRUE(tile);
  std::string zeros14(28, '0');
  EXPECT_EQ(hex(*tile),
            "04000000"
            "00000000"
            "00000000"
            "00000000"
            "7f81" +
                zeros14 + "60a0" + zeros14 + std::string(30, '0') + "40");

  // 1x32 Bfp4: exponents 15 and 17; two datums per byte, the first in the low half: 1.5 is 6, -0.5 is 10.
  tile = pack_matrix({DataFormat::bfp4, {1, 32}}, std::span<const float>(v), 1, 32);
  ASSERT_TRUE(tile);
  EXPECT_EQ(hex(*tile).substr(32), "0f11" + zeros14 + "a6" + std::string(28, '0') + "40" + std::string(32, '0'));

  // Bfp2: four datums per byte: 1.5 is 1; -0.5 rounds up to 1, with a sign 3.
  tile = pack_matrix({DataFormat::bfp2, {1, 32}}, std::span<const float>(v), 1, 32);
  ASSERT_TRUE(tile);
  EXPECT_EQ(hex(*tile).substr(64, 16), "0d00000000000040");
}

TEST(TileLayout, FacesAndRawOrder) {
  // 32x32, the number at (r, c) is 100 r + c: the first datum of each face, and of each line of a raw tile.
  std::vector<std::int32_t> v(32 * 32);
  for (int r = 0; r < 32; ++r)
    for (int c = 0; c < 32; ++c) v[static_cast<std::size_t>(r * 32 + c)] = 100 * r + c;
  auto word = [](const std::string& bytes, std::size_t index) {
    std::uint16_t w = 0;
    std::memcpy(&w, bytes.data() + 16 + index * 2, 2);
    return static_cast<int>(w);
  };
  auto faced = pack_matrix({DataFormat::uint16}, std::span<const std::int32_t>(v), 32, 32);
  auto raw = pack_matrix({DataFormat::raw_uint16}, std::span<const std::int32_t>(v), 32, 32);
  ASSERT_TRUE(faced && raw);
  EXPECT_EQ(word(*faced, 0), 0);
  EXPECT_EQ(word(*faced, 16), 100);
  EXPECT_EQ(word(*faced, 256), 16);
  EXPECT_EQ(word(*faced, 512), 1600);
  EXPECT_EQ(word(*faced, 768), 1616);
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(word(*raw, i), v[i]);
}

TEST(TileLayout, IntegersRoundTrip) {
  Rng rng(4);
  const std::map<DataFormat, std::pair<double, double>> ranges = {{DataFormat::int8, {-127, 127}},
                                                                  {DataFormat::uint8, {0, 255}},
                                                                  {DataFormat::uint16, {0, 65535}},
                                                                  {DataFormat::int32, {-2147483647.0, 2147483647.0}},
                                                                  {DataFormat::raw_uint8, {0, 255}},
                                                                  {DataFormat::raw_uint16, {0, 65535}},
                                                                  {DataFormat::raw_uint32, {-2147483648.0, 2147483647.0}},
                                                                  {DataFormat::float32, {-16777216, 16777216}}};
  for (const auto& [f, range] : ranges) {
    std::vector<std::int32_t> v(40 * 70), back(v.size());
    for (auto& x : v) x = static_cast<std::int32_t>(std::floor(rng.uniform(range.first, range.second + 1)));
    auto packed = pack_matrix({f}, std::span<const std::int32_t>(v), 40, 70);
    ASSERT_TRUE(packed);
    ASSERT_TRUE(unpack_matrix({f}, *packed, std::span<std::int32_t>(back), 40, 70));
    EXPECT_EQ(v, back) << format_name(f);
  }
}

TEST(TileLayout, SignMagnitudeInMemory) {
  std::vector<std::int32_t> v(32, 0);
  v[0] = -1;
  v[1] = std::numeric_limits<std::int32_t>::min();
  auto int8 = pack_matrix({DataFormat::int8, {1, 32}}, std::span<const std::int32_t>(v), 1, 32);
  auto int32 = pack_matrix({DataFormat::int32, {1, 32}}, std::span<const std::int32_t>(v), 1, 32);
  ASSERT_TRUE(int8 && int32);
  EXPECT_EQ(hex(*int8).substr(32, 6), "81ff00");
  EXPECT_EQ(hex(*int32).substr(32, 16), "01000080ffffffff");
  // A sign without magnitude is zero on the way back.
  (*int32)[16] = '\0';
  std::vector<std::int32_t> back(32);
  ASSERT_TRUE(unpack_matrix({DataFormat::int32, {1, 32}}, *int32, std::span<std::int32_t>(back), 1, 32));
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(back[1], -2147483647);
}

TEST(TileLayout, PartialTilesAreFilledWithZeros) {
  const std::size_t rows = 33, cols = 50;
  Rng rng(9);
  std::vector<float> v(rows * cols);
  for (float& x : v) x = static_cast<float>(rng.uniform(-3, 3));
  std::vector<float> padded(64 * 64, 0.0f);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) padded[r * 64 + c] = v[r * cols + c];
  for (DataFormat f : netlist_formats()) {
    auto small = pack_matrix({f}, std::span<const float>(v), rows, cols);
    auto whole = pack_matrix({f}, std::span<const float>(padded), 64, 64);
    ASSERT_TRUE(small && whole);
    EXPECT_EQ(*small, *whole) << format_name(f);
    std::vector<float> back(v.size()), quantized = v;
    ASSERT_TRUE(unpack_matrix({f}, *small, std::span<float>(back), rows, cols));
    quantize_to_format(quantized, rows, cols, f);
    EXPECT_EQ(back, quantized) << format_name(f);
  }
}

TEST(TileLayout, TilesFollowRowMajor) {
  // 2x3 tiles of 1x32, tile k filled with k + 1.
  std::vector<float> v(2 * 96);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i / 96 * 3 + i % 96 / 32 + 1);
  auto packed = pack_matrix({DataFormat::float32, {1, 32}}, std::span<const float>(v), 2, 96);
  ASSERT_TRUE(packed);
  ASSERT_EQ(packed->size(), 6u * 160);
  for (std::size_t k = 0; k < 6; ++k) {
    float first = 0;
    std::memcpy(&first, packed->data() + k * 160 + 16, 4);
    EXPECT_EQ(first, static_cast<float>(k + 1));
  }
}

TEST(TileLayout, AnyBytesUnpack) {
  // Exponents that no packer writes, every datum; nothing may trap, and finite results follow the formula.
  Rng rng(8);
  for (DataFormat f : netlist_formats()) {
    TileLayout layout{f};
    std::string bytes(layout.bytes(), '\0');
    for (char& c : bytes) c = static_cast<char>(rng.below(256));
    std::vector<float> v(1024);
    unpack_tile(layout, bytes.data(), v.data(), 32);
    std::vector<std::int32_t> integers(1024);
    unpack_tile(layout, bytes.data(), integers.data(), 32);
    if (!is_bfp(f)) continue;
    int bits = bfp_magnitude_bits(f), bias = exponent_family(f) == ExponentFamily::a ? 15 : 127;
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 32; ++c) {
        std::size_t at = position(f, {}, r, c), bit = at * static_cast<std::size_t>(bits + 1);
        unsigned byte = static_cast<unsigned char>(bytes[16 + 64 + bit / 8]);
        unsigned datum = byte >> bit % 8 & ((2u << bits) - 1);
        int exponent = static_cast<unsigned char>(bytes[16 + at / 16]);
        double value = std::ldexp(datum & ((1u << bits) - 1), exponent - bias - bits + 1);
        ASSERT_EQ(std::fabs(v[static_cast<std::size_t>(r * 32 + c)]), static_cast<float>(value));
      }
  }
}

TEST(TileLayout, Float16DecodesItsSpecialPatterns) {
  std::string tile(96, '\0');
  const std::uint16_t patterns[] = {0x0001, 0x83ff, 0x0400, 0x7c00, 0x7fff, 0xffff};
  std::memcpy(tile.data() + 16, patterns, sizeof patterns);
  std::vector<float> v(32);
  unpack_tile({DataFormat::float16, {1, 32}}, tile.data(), v.data(), 32);
  const std::vector<float> want = {0.0f, 0.0f, 0x1p-14f, 65536.0f, 131008.0f, -131008.0f};
  EXPECT_EQ(std::vector<float>(v.begin(), v.begin() + 6), want);
}

std::string error_of(const Result<void>& r) {
  return r ? "" : r.failure().diagnostics().front().code + ": " + r.failure().diagnostics().front().message;
}

TEST(TileLayout, Errors) {
  std::vector<float> v(32 * 32, 1.0f);
  TileLayout layout{DataFormat::float16_b};
  auto packed = pack_matrix(layout, std::span<const float>(v), 32, 32);
  ASSERT_TRUE(packed);
  EXPECT_EQ(error_of(unpack_matrix(layout, packed->substr(1), std::span<float>(v), 32, 32)),
            "TN013: a matrix of 32x32 in Float16_b tiles of 32x32 takes 2080 bytes, not 2079");
  EXPECT_EQ(error_of(unpack_matrix({DataFormat::uint16}, *packed, std::span<float>(v), 31, 32)),
            "TN012: a matrix of 31x32 does not have 1024 elements");
  std::string wrong = *packed;
  wrong[0] = '\x7f';
  EXPECT_EQ(error_of(unpack_matrix(layout, wrong, std::span<float>(v), 32, 32)),
            "TN014: tile 0 begins with a header of 127 units of 16 bytes; Float16_b tiles of 32x32 have 130");
  EXPECT_EQ(error_of(TileLayout{DataFormat::invalid}.check()), "TN011: tiles need a data format; 'Invalid' is none");
  EXPECT_EQ(error_of(TileLayout{DataFormat::int8, {16, 16}}.check()),
            "TN011: there are no tiles of 16x16; there are 32x32, 16x32, 32x16, 8x32, 4x32, 2x32 and 1x32");
  for (int alignment : {0, -32, 8, 24, 1 << 20}) EXPECT_NE(error_of(TileLayout{DataFormat::int8, {}, alignment}.check()), "") << alignment;
  EXPECT_FALSE(pack_matrix(layout, std::span<const float>(v), std::size_t{1} << 63, 2)) << "the product wraps to 0";
  std::vector<float> none;
  EXPECT_TRUE(pack_matrix(layout, std::span<const float>(none), 0, 5)->empty());
  EXPECT_TRUE(pack_matrix(layout, std::span<const float>(none), ~std::size_t{0}, 0)->empty());
}

}  // namespace
}  // namespace buda
