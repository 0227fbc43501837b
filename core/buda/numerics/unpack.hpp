// SPDX-License-Identifier: Apache-2.0
// From a buffer in L1 into registers: what the unpackers make of a number.
//
//   Float32            into bf16: denormals become zeros of their sign, the low 16 bits are cut; into tf32: the low 13 bits are cut; into
//   fp16:
//                      the exponent is rebased, what is below becomes a zero of its sign, what is above the largest number; bits are cut
//   Float16_b, Float16 stay as they are (denormals count as zeros wherever the matrix unit reads them)
//   Lf8                becomes the fp16 whose upper byte it is
//   Bfp                is normalised; an exponent below 0 wraps around to 255 and below in the formats with 8 bits
//
// A Float32 that goes straight to a destination register of 32 bits keeps all of its bits.
#pragma once

#include <buda/numerics/registers.hpp>

#include <buda/tensor/data_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace buda::numerics {

// How a source register holds numbers of this format, which is neither integer nor `invalid`.
Source source_of(DataFormat format);
// The same where they are to be copied into a destination register of 16 bits, which has no room for a tf32.
Source copy_source_of(DataFormat format, Dest dest);

// A datum of L1, with the exponent of its group where the format is a Bfp one (others ignore it).
std::uint32_t unpack_datum(DataFormat format, Source as, std::uint32_t datum, std::uint8_t exponent);

// Datums as they lie in L1, and their exponents, one for each 16, where the format is a Bfp one.
struct DatumsInL1 {
  DataFormat format = DataFormat::invalid;
  Source as = Source::bf16;
  const std::uint8_t* datums = nullptr;
  const std::uint8_t* exponents = nullptr;
};
// The same of as many datums as there are words, from number `first` on.
void unpack_datums(const DatumsInL1& from, std::size_t first, std::span<std::uint32_t> words);

// The same of numbers that L1 holds in this format, given by their values. words.size() must be numbers.size().
void unpack(DataFormat format, Source as, std::span<const float> numbers, std::span<std::uint32_t> words);

// Into a destination register, past the matrix unit or through it as a copy: a Float32 into 32 bits keeps all bits; other numbers lose
// denormals and the sign of zeros, and, where the destination has 32 bits, become the largest number where their exponent is the largest.
void copy_to_dest(DataFormat format, Dest dest, std::span<const float> numbers, std::span<std::uint32_t> words);

// The values of a destination register's words, and the words of such values.
float value_of_dest(Dest dest, std::uint32_t word);
std::uint32_t dest_of_value(Dest dest, float value);

}  // namespace buda::numerics

#pragma GCC visibility pop
