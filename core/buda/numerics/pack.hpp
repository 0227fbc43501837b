// SPDX-License-Identifier: Apache-2.0
// From a destination register into a buffer in L1: what a packer makes of a number.
//
// A packer converts twice, with ReLU in between. The early conversion rounds, half away from zero, to what it says; denormals become +0,
// and a NaN (an exponent of 255 with a fraction) the infinity of its sign. Float32 leaves everything as it is. The late conversion widens,
// cuts, or forms Bfp groups: 16 neighbours share the largest exponent, significands of 8 bits are shifted to it and rounded half up to 7
// bits, of which narrower formats keep the upper ones; the sign of a zero is dropped.
#pragma once

#include <buda/numerics/registers.hpp>

#include <buda/tensor/data_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace buda::numerics {

// Between the conversions. wide: 23 fraction bits, no conversion; bf16 and fp16; e8m6 and e5m6: 6 fraction bits, on the way to a Bfp
// format.
enum class Intermediate : std::uint8_t { wide, bf16, e8m6, fp16, e5m6 };
enum class PackerRelu : std::uint8_t { none, zero, min_threshold, max_threshold };

struct Packing {
  Dest dest = Dest::bf16;
  Intermediate intermediate = Intermediate::bf16;
  DataFormat out = DataFormat::float16_b;  // neither integer nor `invalid`
  PackerRelu relu = PackerRelu::none;
  float threshold = 0;  // not negative; of which the packer keeps 16 bits in the intermediate format
};

// With the intermediate format that loses least: Float32 for Float32, and for the formats with exponents of 5 bits where the destination
// has 32 bits; 6 fraction bits for the Bfp formats; the 16-bit format of the output's or the destination's exponents otherwise.
Packing packing_for(Dest dest, DataFormat out);

// A group of 16 destination words that are neighbours in a row, as datums of L1. Gives their shared exponent; 0 for other formats.
std::uint8_t pack_group(const Packing& packing, std::span<const std::uint32_t, 16> words, std::span<std::uint32_t, 16> datums);

// What most kernels pack: Float16_b by way of bf16 and without ReLU. The same as pack_group(), for any count of words, as datums of L1.
bool packs_as_bf16(const Packing& packing);
void pack_as_bf16(Dest dest, std::span<const std::uint32_t> words, std::uint8_t* datums);

// The value of a datum, that a consumer sees: an fp16 without an exponent is a zero.
float value_of_datum(DataFormat format, std::uint32_t datum, std::uint8_t exponent);

// Values of L1 for destination words; the count must be a multiple of 16.
void pack(const Packing& packing, std::span<const std::uint32_t> words, std::span<float> values);

// What packing with accumulation leaves in L1: the sum of a datum there and one that arrives. Float32, Float16_b and Float16 (`can`);
// Float32 as IEEE says but for denormals, which are zeros; the others round to the nearest even number, with oddities for NaN, and, in
// Float16, for exact cancellation of large numbers and for results below the smallest.
bool can_accumulate_in_l1(DataFormat format);
std::uint32_t accumulate_in_l1(DataFormat format, std::uint32_t there, std::uint32_t arriving);
// The same with values.
float sum_in_l1(DataFormat format, float there, float arriving);

}  // namespace buda::numerics

#pragma GCC visibility pop
