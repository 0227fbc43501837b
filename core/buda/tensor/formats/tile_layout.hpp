// SPDX-License-Identifier: Apache-2.0
// Tiles: how a device lays out a block of a matrix in memory, and the way there and back.
//
// A tile is a header of 16 bytes (its size in units of 16 bytes, then zeros), for Bfp formats the shared exponents (one byte for each 16
// datums of a face row, in the order of faces), the datums, and zeros up to the alignment. Datums lie in faces of 16 columns and up to 16
// rows: top left, top right, bottom left, bottom right, row-major in each; raw formats are not faced but plain row-major. Datums of less
// than a byte fill bytes from their low bits up.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/data_format.hpp>
#include <buda/tensor/formats/quantize.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace buda {

struct TileLayout {
  DataFormat format = DataFormat::float32;
  TileDim dim = {};
  std::int32_t alignment = kTileAlignment;
  BfpRounding rounding = BfpRounding::half_up;

  std::size_t bytes() const { return static_cast<std::size_t>(tile_bytes(format, dim, alignment)); }
  // A device format, one of the tile dims there are, and an alignment that is a multiple of 16; otherwise what is wrong.
  Result<void> check() const;
};

// One tile. The layout must pass check(). `stride` is the distance between rows of the matrix in elements; exactly dim.rows x dim.cols
// elements are read (written), exactly bytes() bytes written (read). Unpacking does not look at the header.
// As int32, Int8 and Int32 are two's complement on the host and sign-magnitude in the tile; raw formats keep their (low) bits.
void pack_tile(const TileLayout& layout, const float* source, std::size_t stride, char* tile);
void pack_tile(const TileLayout& layout, const std::int32_t* source, std::size_t stride, char* tile);
void unpack_tile(const TileLayout& layout, const char* tile, float* destination, std::size_t stride);
void unpack_tile(const TileLayout& layout, const char* tile, std::int32_t* destination, std::size_t stride);

// A whole row-major matrix as tiles in row-major order; the last tiles of rows and columns are filled up with zeros.
Result<std::string> pack_matrix(const TileLayout& layout, std::span<const float> values, std::size_t rows, std::size_t cols);
Result<std::string> pack_matrix(const TileLayout& layout, std::span<const std::int32_t> values, std::size_t rows, std::size_t cols);

// The way back. A wrong number of bytes or a header that does not belong to this layout is an error that names the tile.
Result<void> unpack_matrix(const TileLayout& layout, std::string_view tiles, std::span<float> values, std::size_t rows, std::size_t cols);
Result<void> unpack_matrix(const TileLayout& layout, std::string_view tiles, std::span<std::int32_t> values, std::size_t rows,
                           std::size_t cols);

}  // namespace buda
