// SPDX-License-Identifier: Apache-2.0
// The formats in which a device keeps numbers, and how many bytes a tile of them takes.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// Values are the codes of TT-Buda's files. The suffix _b means an exponent of 8 bits (bias 127); its counterpart without has 5 bits
// (bias 15). Bfp formats share one exponent among 16 datums; Raw formats are words that nobody interprets. Tf32 (19 significant bits in
// a 32-bit word) exists inside the device only; `invalid` stands where a file has to say "no format".
enum class DataFormat : std::uint8_t {
  float32 = 0,
  float16 = 1,
  bfp8 = 2,
  bfp4 = 3,
  tf32 = 4,
  float16_b = 5,
  bfp8_b = 6,
  bfp4_b = 7,
  int32 = 8,
  uint16 = 9,
  lf8 = 10,
  bfp2 = 11,
  int8 = 14,
  bfp2_b = 15,
  fp8_e4m3 = 0x1a,
  uint8 = 30,
  raw_uint8 = 0xf0,
  raw_uint16 = 0xf1,
  raw_uint32 = 0xf2,
  invalid = 0xff,
};

// Exponents of 5 bits (a) or of 8 bits (b). Float32, Tf32 and integers belong to neither and go with both.
enum class ExponentFamily : std::uint8_t { none, a, b };

// "Bfp8_b": the spelling of netlists.
std::string_view format_name(DataFormat f);
// Netlist spellings only, exactly; the error lists them and suggests the nearest. Its place is left to the caller.
Result<DataFormat> format_from_name(std::string_view name);
std::optional<DataFormat> format_from_code(std::int64_t code);
// Those that a netlist may name, in the order of their codes.
const std::vector<DataFormat>& netlist_formats();

constexpr std::uint8_t format_code(DataFormat f) { return static_cast<std::uint8_t>(f); }

ExponentFamily exponent_family(DataFormat f);
bool is_bfp(DataFormat f);
bool is_raw(DataFormat f);
bool is_integer(DataFormat f);  // Int8, Int32, UInt8, UInt16, and the raw ones
bool is_float(DataFormat f);    // everything else but `invalid`; block floating point too
// Bits of one datum in a tile, shared exponents apart: 32, 16, 8, 4 or 2; 0 for `invalid`.
int bits_per_datum(DataFormat f);
// Magnitude bits of a Bfp datum: 7, 3 or 1; 0 for other formats.
int bfp_magnitude_bits(DataFormat f);

// Height and width of a tile in datums.
struct TileDim {
  std::int32_t rows = 32;
  std::int32_t cols = 32;
  constexpr std::int32_t datums() const { return rows * cols; }
  constexpr std::int32_t face_rows() const { return rows < 16 ? rows : 16; }
  friend constexpr bool operator==(const TileDim&, const TileDim&) = default;
};

// 32x32, 16x32, 32x16, 8x32, 4x32, 2x32 and 1x32 are the ones there are.
bool is_valid_tile_dim(TileDim dim);

inline constexpr std::int32_t kFaceCols = 16;
inline constexpr std::int32_t kTileHeaderBytes = 16;
// Tiles, and queues' addresses, are aligned to this many bytes: 32 on Grayskull and Wormhole, 64 on Blackhole.
inline constexpr std::int32_t kTileAlignment = 32;
inline constexpr std::int32_t kBlackholeTileAlignment = 64;

// Bytes of the shared exponents of a tile; 0 where the format has none.
std::int32_t tile_exponent_bytes(DataFormat f, TileDim dim);
// Bytes of the datums of a tile, without header and exponents.
std::int32_t tile_datum_bytes(DataFormat f, TileDim dim);
// Bytes of a tile in memory: header, exponents and datums, rounded up to `alignment`. dim must be valid; 0 for `invalid`.
std::int32_t tile_bytes(DataFormat f, TileDim dim = {}, std::int32_t alignment = kTileAlignment);

}  // namespace buda

#pragma GCC visibility pop
