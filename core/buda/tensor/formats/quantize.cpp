// SPDX-License-Identifier: Apache-2.0
// Quantizing whole matrices: one dispatch on the format, then loops that the compiler vectorises.
#include <buda/tensor/formats/quantize.hpp>

#include <buda/tensor/formats/bfp_kernels.hpp>
#include <buda/tensor/formats/datum.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace buda {
namespace {

using datum::kGroup;

void quantize_rows(const datum::BfpKernels& kernels, float* values, std::size_t rows, std::size_t cols, BfpRounding rounding) {
  std::size_t whole = cols / kGroup * kGroup;
  std::size_t rest = cols - whole;
  // Without a rest rows follow each other in groups, so that the matrix is one long row.
  if (rest == 0) return kernels.quantize(values, kGroup, rows * cols / kGroup, rounding);
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = values + r * cols;
    kernels.quantize(row, kGroup, whole / kGroup, rounding);
    std::array<float, kGroup> padded{};
    std::copy_n(row + whole, rest, padded.begin());
    kernels.quantize(padded.data(), kGroup, 1, rounding);
    std::copy_n(padded.begin(), rest, row + whole);
  }
}

// The nearest number without the last bits, of which there are `cut`; the cut number where the nearest one is infinite or v is NaN.
float nearest_without(float v, int cut) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t half = 1u << (cut - 1), kept = ~((1u << cut) - 1);
  const std::uint32_t rounded = (bits + half - 1 + (bits >> cut & 1u)) & kept;
  const bool finite = (rounded & 0x7fffffffu) < 0x7f800000u && (bits & 0x7fffffffu) < 0x7f800000u;
  return std::bit_cast<float>(finite ? rounded : bits);
}

}  // namespace

void round_before_packing(std::span<float> values, DataFormat format) {
  const int cut = format == DataFormat::float16_b                               ? 16
                  : format == DataFormat::float16                               ? 13
                  : format == DataFormat::lf8 || format == DataFormat::fp8_e4m3 ? 21
                                                                                : 0;
  if (cut == 0) return;
  for (float& v : values) v = nearest_without(v, cut);
}

void quantize_to_format(std::span<float> values, std::size_t rows, std::size_t cols, DataFormat format, BfpRounding rounding) {
  datum::with_codec(
      format,
      [&](auto codec) {
        using Codec = decltype(codec);
        if constexpr (!std::is_same_v<Codec, datum::Float32>)
          for (float& v : values) v = Codec::decode(Codec::encode(v));
      },
      [&](auto) { quantize_rows(datum::bfp_kernels(format), values.data(), rows, cols, rounding); });
}

void quantize_to_format(std::span<std::int32_t> values, std::size_t rows, std::size_t cols, DataFormat format, BfpRounding rounding) {
  if (is_integer(format)) {
    datum::with_codec(
        format,
        [&](auto codec) {
          using Codec = decltype(codec);
          for (std::int32_t& v : values) v = Codec::decode_int(Codec::encode(v));
        },
        [](auto) {});
    return;
  }
  if (values.empty()) return;
  // Through floats, a piece of a row at a time; pieces are whole groups.
  std::array<float, 16 * kGroup> piece;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; c += piece.size()) {
      std::span<std::int32_t> part = values.subspan(r * cols + c, std::min(piece.size(), cols - c));
      std::transform(part.begin(), part.end(), piece.begin(), [](std::int32_t v) { return static_cast<float>(v); });
      quantize_to_format(std::span<float>(piece.data(), part.size()), 1, part.size(), format, rounding);
      std::transform(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(part.size()), part.begin(), datum::nearest_int32);
    }
  }
}

}  // namespace buda
