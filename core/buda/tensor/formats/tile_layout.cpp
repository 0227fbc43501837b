// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of tiles, 16 datums at a time.
//
// Sixteen neighbours of a row are a row of a face, a Bfp group and a whole number of bytes in every format, so a tile is a sequence of
// such groups: each is 2 * (bits of a datum) bytes, and formats differ only in what happens inside a group. Faced formats take the groups
// face by face, raw ones line by line. Bfp groups go to kernels a face at a time.
#include <buda/tensor/formats/tile_layout.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/formats/bfp_kernels.hpp>
#include <buda/tensor/formats/datum.hpp>
#include <buda/tensor/formats/group_bits.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

namespace buda {
namespace {

using datum::kGroup;

// Groups below each other in a face (or a line of a raw format): f(element offset of the first, how many) for each such run, in the order
// of memory.
template <class F>
void for_each_run(const TileLayout& layout, std::size_t stride, F&& f) {
  auto rows = static_cast<std::size_t>(layout.dim.rows), cols = static_cast<std::size_t>(layout.dim.cols);
  std::size_t face_rows = is_raw(layout.format) ? 1 : static_cast<std::size_t>(layout.dim.face_rows());
  for (std::size_t top = 0; top < rows; top += face_rows)
    for (std::size_t left = 0; left < cols; left += kGroup) f(top * stride + left, face_rows);
}

template <class F>
void for_each_group(const TileLayout& layout, std::size_t stride, F&& f) {
  for_each_run(layout, stride, [&](std::size_t at, std::size_t groups) {
    for (std::size_t g = 0; g < groups; ++g) f(at + g * stride);
  });
}

constexpr std::size_t kFaceRows = 16;

// Bfp formats are packed from floats; integers pass through a face of them.
void pack_run(const datum::BfpKernels& kernels, const float* source, std::size_t stride, std::size_t groups, BfpRounding rounding,
              char* exponents, char* datums) {
  kernels.pack(source, stride, groups, rounding, exponents, datums);
}
void pack_run(const datum::BfpKernels& kernels, const std::int32_t* source, std::size_t stride, std::size_t groups, BfpRounding rounding,
              char* exponents, char* datums) {
  std::array<float, kFaceRows * kGroup> face;
  for (std::size_t g = 0; g < groups; ++g)
    std::transform(source + g * stride, source + g * stride + kGroup, face.data() + g * kGroup, [](auto v) { return static_cast<float>(v); });
  kernels.pack(face.data(), kGroup, groups, rounding, exponents, datums);
}

void unpack_run(const datum::BfpKernels& kernels, const char* exponents, const char* datums, std::size_t groups, float* destination,
                std::size_t stride) {
  kernels.unpack(exponents, datums, groups, destination, stride);
}
void unpack_run(const datum::BfpKernels& kernels, const char* exponents, const char* datums, std::size_t groups, std::int32_t* destination,
                std::size_t stride) {
  std::array<float, kFaceRows * kGroup> face;
  kernels.unpack(exponents, datums, groups, face.data(), kGroup);
  for (std::size_t g = 0; g < groups; ++g)
    std::transform(face.data() + g * kGroup, face.data() + (g + 1) * kGroup, destination + g * stride, datum::nearest_int32);
}

template <class T>
void pack(const TileLayout& layout, const T* source, std::size_t stride, char* tile) {
  const std::size_t bytes = layout.bytes(), exponent_bytes = static_cast<std::size_t>(tile_exponent_bytes(layout.format, layout.dim));
  auto units = static_cast<std::uint32_t>(bytes / 16);
  std::memset(tile, 0, kTileHeaderBytes);
  std::memcpy(tile, &units, sizeof units);
  char* exponents = tile + kTileHeaderBytes;
  char* datums = exponents + exponent_bytes;
  datum::with_codec(
      layout.format,
      [&](auto codec) {
        using Codec = decltype(codec);
        for_each_group(layout, stride, [&](std::size_t at) {
          std::uint32_t group[kGroup];
          for (std::size_t i = 0; i < kGroup; ++i) group[i] = Codec::encode(source[at + i]);
          datum::store_group<Codec::kBits>(group, datums);
          datums += 2 * Codec::kBits;
        });
      },
      [&](auto codec) {
        const datum::BfpKernels& kernels = datum::bfp_kernels(layout.format);
        for_each_run(layout, stride, [&](std::size_t at, std::size_t groups) {
          pack_run(kernels, source + at, stride, groups, layout.rounding, exponents, datums);
          exponents += groups;
          datums += groups * 2 * decltype(codec)::kBits;
        });
        std::memset(exponents, 0, static_cast<std::size_t>(tile + kTileHeaderBytes + exponent_bytes - exponents));
      });
  std::memset(datums, 0, static_cast<std::size_t>(tile + bytes - datums));
}

template <class T>
void unpack(const TileLayout& layout, const char* tile, T* destination, std::size_t stride) {
  const char* exponents = tile + kTileHeaderBytes;
  const char* datums = exponents + tile_exponent_bytes(layout.format, layout.dim);
  datum::with_codec(
      layout.format,
      [&](auto codec) {
        using Codec = decltype(codec);
        for_each_group(layout, stride, [&](std::size_t at) {
          std::uint32_t group[kGroup];
          datum::load_group<Codec::kBits>(datums, group);
          datums += 2 * Codec::kBits;
          for (std::size_t i = 0; i < kGroup; ++i) {
            if constexpr (std::is_same_v<T, float>)
              destination[at + i] = Codec::decode(group[i]);
            else
              destination[at + i] = Codec::decode_int(group[i]);
          }
        });
      },
      [&](auto codec) {
        const datum::BfpKernels& kernels = datum::bfp_kernels(layout.format);
        for_each_run(layout, stride, [&](std::size_t at, std::size_t groups) {
          unpack_run(kernels, exponents, datums, groups, destination + at, stride);
          exponents += groups;
          datums += groups * 2 * decltype(codec)::kBits;
        });
      });
}

struct Tiling {
  std::size_t tile_rows = 0, tile_cols = 0;  // of the matrix, in tiles
  std::size_t bytes = 0;                     // of all tiles
};

Result<Tiling> tiling(const TileLayout& layout, std::size_t count, std::size_t rows, std::size_t cols) {
  BUDA_TRY(layout.check());
  auto volume = checked_mul(rows, cols);
  if (!volume || *volume != count)
    return input_error("TN012", {}, cat("a matrix of ", rows, 'x', cols, " does not have ", count, " elements"));
  Tiling t;
  if (count == 0) return t;  // one of the sizes may be anything
  // Not ceil_div: a size near the end of its type must not wrap.
  auto tiles = [](std::size_t size, std::int32_t side) {
    auto s = static_cast<std::size_t>(side);
    return size / s + (size % s != 0 ? 1 : 0);
  };
  t.tile_rows = tiles(rows, layout.dim.rows);
  t.tile_cols = tiles(cols, layout.dim.cols);
  auto number = checked_mul(t.tile_rows, t.tile_cols);
  auto bytes = number ? checked_mul(*number, layout.bytes()) : std::nullopt;
  if (!bytes || *bytes > static_cast<std::size_t>(PTRDIFF_MAX))
    return input_error("TN012", {}, cat("a matrix of ", rows, 'x', cols, " takes more bytes of tiles than can be addressed"));
  t.bytes = *bytes;
  return t;
}

// The part of the matrix that a tile covers.
struct Window {
  std::size_t offset, rows, cols;
};

template <class F>
void for_each_tile(const TileLayout& layout, const Tiling& t, std::size_t rows, std::size_t cols, F&& f) {
  auto height = static_cast<std::size_t>(layout.dim.rows), width = static_cast<std::size_t>(layout.dim.cols);
  for (std::size_t r = 0; r < t.tile_rows; ++r)
    for (std::size_t c = 0; c < t.tile_cols; ++c)
      f(Window{r * height * cols + c * width, std::min(height, rows - r * height), std::min(width, cols - c * width)});
}

bool covers_whole_tile(const TileLayout& layout, const Window& w) {
  return w.rows == static_cast<std::size_t>(layout.dim.rows) && w.cols == static_cast<std::size_t>(layout.dim.cols);
}

template <class T>
Result<std::string> pack_all(const TileLayout& layout, std::span<const T> values, std::size_t rows, std::size_t cols) {
  BUDA_ASSIGN(Tiling t, tiling(layout, values.size(), rows, cols));
  std::string out(t.bytes, '\0');
  char* tile = out.data();
  std::array<T, 32 * 32> padded;
  auto width = static_cast<std::size_t>(layout.dim.cols);
  for_each_tile(layout, t, rows, cols, [&](const Window& w) {
    const T* source = values.data() + w.offset;
    if (covers_whole_tile(layout, w)) {
      pack_tile(layout, source, cols, tile);
    } else {
      padded.fill(T{});
      for (std::size_t r = 0; r < w.rows; ++r) std::copy_n(source + r * cols, w.cols, padded.data() + r * width);
      pack_tile(layout, padded.data(), width, tile);
    }
    tile += layout.bytes();
  });
  return out;
}

template <class T>
Result<void> unpack_all(const TileLayout& layout, std::string_view tiles, std::span<T> values, std::size_t rows, std::size_t cols) {
  BUDA_ASSIGN(Tiling t, tiling(layout, values.size(), rows, cols));
  std::string what = cat(format_name(layout.format), " tiles of ", layout.dim.rows, 'x', layout.dim.cols);
  if (tiles.size() != t.bytes)
    return input_error("TN013", {}, cat("a matrix of ", rows, 'x', cols, " in ", what, " takes ", t.bytes, " bytes, not ", tiles.size()));
  std::size_t size = layout.bytes();
  for (std::size_t at = 0; at < tiles.size(); at += size) {
    std::uint32_t units = 0;
    std::memcpy(&units, tiles.data() + at, sizeof units);
    if (units != size / 16)
      return input_error("TN014", {},
                         cat("tile ", at / size, " begins with a header of ", units, " units of 16 bytes; ", what, " have ", size / 16));
  }
  const char* tile = tiles.data();
  std::array<T, 32 * 32> padded;
  auto width = static_cast<std::size_t>(layout.dim.cols);
  for_each_tile(layout, t, rows, cols, [&](const Window& w) {
    T* destination = values.data() + w.offset;
    if (covers_whole_tile(layout, w)) {
      unpack_tile(layout, tile, destination, cols);
    } else {
      unpack_tile(layout, tile, padded.data(), width);
      for (std::size_t r = 0; r < w.rows; ++r) std::copy_n(padded.data() + r * width, w.cols, destination + r * cols);
    }
    tile += size;
  });
  return success();
}

}  // namespace

Result<void> TileLayout::check() const {
  if (format == DataFormat::invalid) return input_error("TN011", {}, "tiles need a data format; 'Invalid' is none");
  if (!is_valid_tile_dim(dim))
    return input_error(
        "TN011", {}, cat("there are no tiles of ", dim.rows, 'x', dim.cols, "; there are 32x32, 16x32, 32x16, 8x32, 4x32, 2x32 and 1x32"));
  if (alignment < 16 || alignment > 4096 || alignment % 16 != 0)
    return input_error("TN011", {}, cat("tiles cannot be aligned to ", alignment, " bytes: it takes a multiple of 16, at most 4096"));
  return success();
}

void pack_tile(const TileLayout& layout, const float* source, std::size_t stride, char* tile) { pack(layout, source, stride, tile); }
void pack_tile(const TileLayout& layout, const std::int32_t* source, std::size_t stride, char* tile) { pack(layout, source, stride, tile); }
void unpack_tile(const TileLayout& layout, const char* tile, float* destination, std::size_t stride) {
  unpack(layout, tile, destination, stride);
}
void unpack_tile(const TileLayout& layout, const char* tile, std::int32_t* destination, std::size_t stride) {
  unpack(layout, tile, destination, stride);
}

Result<std::string> pack_matrix(const TileLayout& layout, std::span<const float> values, std::size_t rows, std::size_t cols) {
  return pack_all(layout, values, rows, cols);
}
Result<std::string> pack_matrix(const TileLayout& layout, std::span<const std::int32_t> values, std::size_t rows, std::size_t cols) {
  return pack_all(layout, values, rows, cols);
}
Result<void> unpack_matrix(const TileLayout& layout, std::string_view tiles, std::span<float> values, std::size_t rows, std::size_t cols) {
  return unpack_all(layout, tiles, values, rows, cols);
}
Result<void> unpack_matrix(const TileLayout& layout, std::string_view tiles, std::span<std::int32_t> values, std::size_t rows,
                           std::size_t cols) {
  return unpack_all(layout, tiles, values, rows, cols);
}

}  // namespace buda
