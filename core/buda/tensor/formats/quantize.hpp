// SPDX-License-Identifier: Apache-2.0
// What a number becomes when a device stores it in one of its formats.
#pragma once

#include <buda/tensor/data_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace buda {

// How the datums of Bfp formats are rounded to their few bits: half a unit away from zero (the default of packers), or toward zero
// (TT_BACKEND_DISABLE_BFP_RTE=1).
enum class BfpRounding : std::uint8_t { half_up, truncate };

// Replaces each value of a row-major matrix by what a device reads after it was packed into `format`. The Bfp groups are 16 neighbours
// in a row, counted from column 0; a shorter last group is filled with zeros, which changes nothing. values.size() must be rows * cols.
// Time is linear; nothing is allocated. How each format treats a value is told in docs/formats/tiles.md.
void quantize_to_format(std::span<float> values, std::size_t rows, std::size_t cols, DataFormat format,
                        BfpRounding rounding = BfpRounding::half_up);

// The same for integers kept as such: saturates to Int8 (±127), Int32 (±(2^31-1)), UInt8 or UInt16; raw formats keep their low bits; a
// floating-point format makes the integer what it makes of the float nearest to it, rounded back.
void quantize_to_format(std::span<std::int32_t> values, std::size_t rows, std::size_t cols, DataFormat format,
                        BfpRounding rounding = BfpRounding::half_up);

// What a host does with floats before it packs them: the nearest number whose datum keeps all of it, ties to even, where packing cuts bits
// off (Float16_b, Float16, Lf8). Cut numbers are too small by a quarter of a per cent on average, so that each layer of a model would
// shrink what goes through it. A finite number stays finite. Formats that round when they are packed are left to that.
void round_before_packing(std::span<float> values, DataFormat format);

}  // namespace buda
