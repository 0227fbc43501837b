// SPDX-License-Identifier: Apache-2.0
// Device formats: names, codes, properties and the sizes of tiles.
#include <buda/tensor/data_format.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace buda {
namespace {

constexpr TileDim kTileDims[] = {{32, 32}, {16, 32}, {32, 16}, {8, 32}, {4, 32}, {2, 32}, {1, 32}};

TEST(DataFormat, NamesAndCodes) {
  const std::map<std::string, int> expected = {
      {"Float32", 0}, {"Float16", 1}, {"Bfp8", 2},        {"Bfp4", 3},        {"Float16_b", 5},    {"Bfp8_b", 6},
      {"Bfp4_b", 7},  {"Int32", 8},   {"UInt16", 9},      {"Lf8", 10},        {"Bfp2", 11},        {"Int8", 14},
      {"Bfp2_b", 15}, {"UInt8", 30},  {"Fp8_e4m3", 0x1a}, {"RawUInt8", 0xf0}, {"RawUInt16", 0xf1}, {"RawUInt32", 0xf2}};
  EXPECT_EQ(netlist_formats().size(), expected.size());
  for (const auto& [name, code] : expected) {
    auto f = format_from_name(name);
    ASSERT_TRUE(f) << name;
    EXPECT_EQ(format_code(*f), code) << name;
    EXPECT_EQ(format_name(*f), name);
    EXPECT_EQ(format_from_code(code), *f);
  }
  EXPECT_EQ(format_from_code(4), DataFormat::tf32);
  EXPECT_EQ(format_from_code(0xff), DataFormat::invalid);
  for (int code : {-1, 12, 13, 16, 25, 31, 0xef, 256}) EXPECT_EQ(format_from_code(code), std::nullopt) << code;
}

TEST(DataFormat, WrongNamesGetAHint) {
  const std::map<std::string, std::string> hints = {{"bfp8_b", "it is called 'Bfp8_b' here"},
                                                    {"Float16b", "did you mean 'Float16'?"},
                                                    {"RawUint32", "it is called 'RawUInt32' here"},
                                                    {"bf16", "it is called 'Float16_b' here"},
                                                    {"torch.bfloat16", "it is called 'Float16_b' here"},
                                                    {"fp16", "it is called 'Float16' here"},
                                                    {"float16", "it is called 'Float16' here"},
                                                    {"fp32", "it is called 'Float32' here"},
                                                    {"FLOAT32", "it is called 'Float32' here"},
                                                    {"int8", "it is called 'Int8' here"}};
  for (const auto& [wrong, hint] : hints) {
    auto f = format_from_name(wrong);
    ASSERT_FALSE(f) << wrong;
    ASSERT_EQ(f.failure().diagnostics().size(), 1u);
    const Diagnostic& d = f.failure().diagnostics().front();
    EXPECT_EQ(d.code, "TN010");
    EXPECT_EQ(d.hint, hint);
    EXPECT_NE(d.message.find("'" + wrong + "' is not a data format"), std::string::npos) << d.message;
    EXPECT_NE(d.message.find("Float16_b, Bfp8_b"), std::string::npos) << "the message lists what there is: " << d.message;
  }
  for (const char* internal : {"Tf32", "Invalid", "", "float"}) EXPECT_FALSE(format_from_name(internal)) << internal;
}

TEST(DataFormat, Properties) {
  const std::set<DataFormat> a = {DataFormat::float16, DataFormat::bfp8, DataFormat::bfp4,
                                  DataFormat::bfp2,    DataFormat::lf8,  DataFormat::fp8_e4m3};
  const std::set<DataFormat> b = {DataFormat::float16_b, DataFormat::bfp8_b, DataFormat::bfp4_b, DataFormat::bfp2_b};
  for (DataFormat f : netlist_formats()) {
    std::string name(format_name(f));
    EXPECT_EQ(exponent_family(f), a.count(f) != 0 ? ExponentFamily::a : b.count(f) != 0 ? ExponentFamily::b : ExponentFamily::none) << name;
    EXPECT_EQ(is_bfp(f), name.starts_with("Bfp")) << name;
    EXPECT_EQ(is_raw(f), name.starts_with("Raw")) << name;
    EXPECT_EQ(is_integer(f), name.find("Int") != std::string::npos) << name;
    EXPECT_EQ(is_float(f), !is_integer(f)) << name;
    EXPECT_EQ(bfp_magnitude_bits(f), is_bfp(f) ? name[3] - '1' : 0) << name;
  }
  EXPECT_FALSE(is_float(DataFormat::invalid) || is_integer(DataFormat::invalid));
}

TEST(DataFormat, TileDims) {
  for (TileDim d : kTileDims) EXPECT_TRUE(is_valid_tile_dim(d)) << d.rows << 'x' << d.cols;
  for (TileDim d : {TileDim{0, 32}, {32, 0}, {16, 16}, {3, 32}, {64, 32}, {32, 64}, {-32, 32}, {1, 16}, {32, 8}})
    EXPECT_FALSE(is_valid_tile_dim(d)) << d.rows << 'x' << d.cols;
}

TEST(DataFormat, BytesOfWholeTiles) {
  struct Row {
    std::vector<DataFormat> formats;
    int exponents, datums, aligned32, aligned64;
  };
  using F = DataFormat;
  const Row rows[] = {
      {{F::float32, F::int32, F::raw_uint32, F::tf32}, 0, 4096, 4128, 4160},
      {{F::float16, F::float16_b, F::uint16, F::raw_uint16}, 0, 2048, 2080, 2112},
      {{F::bfp8, F::bfp8_b}, 64, 1024, 1120, 1152},
      {{F::int8, F::uint8, F::raw_uint8, F::lf8, F::fp8_e4m3}, 0, 1024, 1056, 1088},
      {{F::bfp4, F::bfp4_b}, 64, 512, 608, 640},
      {{F::bfp2, F::bfp2_b}, 64, 256, 352, 384},
  };
  std::size_t seen = 0;
  for (const Row& row : rows) {
    for (DataFormat f : row.formats) {
      EXPECT_EQ(tile_exponent_bytes(f, {}), row.exponents) << format_name(f);
      EXPECT_EQ(tile_datum_bytes(f, {}), row.datums) << format_name(f);
      EXPECT_EQ(tile_bytes(f), row.aligned32) << format_name(f);
      EXPECT_EQ(tile_bytes(f, {}, kBlackholeTileAlignment), row.aligned64) << format_name(f);
      ++seen;
    }
  }
  EXPECT_EQ(seen, netlist_formats().size() + 1) << "Tf32 is the one more";
  EXPECT_EQ(tile_bytes(F::invalid), 0);
}

TEST(DataFormat, BytesOfSmallTiles) {
  using F = DataFormat;
  EXPECT_EQ(tile_bytes(F::float32, {1, 32}), 160);   // 16 + 128 = 144
  EXPECT_EQ(tile_bytes(F::float16_b, {1, 32}), 96);  // 16 + 64 = 80
  EXPECT_EQ(tile_bytes(F::bfp8_b, {1, 32}), 64);     // 16 + 16 + 32
  EXPECT_EQ(tile_bytes(F::bfp8, {8, 32}), 288);      // 16 + 16 + 256
  EXPECT_EQ(tile_bytes(F::bfp8, {16, 32}), 576);     // 16 + 32 + 512 = 560
  EXPECT_EQ(tile_bytes(F::bfp8_b, {32, 16}), 576);
  EXPECT_EQ(tile_bytes(F::bfp4_b, {4, 32}), 96);  // 16 + 16 + 64
  EXPECT_EQ(tile_bytes(F::bfp2, {1, 32}), 64);    // 16 + 16 + 8 = 40
  EXPECT_EQ(tile_bytes(F::bfp2, {1, 32}, 64), 64);
  EXPECT_EQ(tile_bytes(F::int8, {2, 32}, 64), 128);  // 16 + 64 = 80
  for (TileDim dim : kTileDims)
    for (DataFormat f : netlist_formats()) {
      int exponents = !is_bfp(f) ? 0 : dim.rows < 16 ? 16 : dim.datums() / 16;
      int whole = 16 + exponents + dim.datums() * bits_per_datum(f) / 8;
      int bytes = tile_bytes(f, dim);
      EXPECT_TRUE(bytes % 32 == 0 && bytes >= whole && bytes < whole + 32) << format_name(f) << ' ' << dim.rows << 'x' << dim.cols;
    }
}

}  // namespace
}  // namespace buda
