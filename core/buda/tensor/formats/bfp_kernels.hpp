// SPDX-License-Identifier: Apache-2.0
// Block floating point in bulk: runs of groups packed, unpacked and quantized, in one version for each vector instruction set.
//
// What a group is and how its numbers are rounded is told in bfp_group.hpp; every version gives the same bits.
#pragma once

#include <buda/tensor/data_format.hpp>
#include <buda/tensor/formats/quantize.hpp>

#include <cstddef>

namespace buda::datum {

// A group is 16 neighbours of a row. `groups` of them lie below each other, `stride` floats apart; their exponents follow each other
// byte by byte, and so do their datums, 2 * (bits of a datum) bytes for each group.
struct BfpKernels {
  void (*pack)(const float* values, std::size_t stride, std::size_t groups, BfpRounding rounding, char* exponents, char* datums);
  void (*unpack)(const char* exponents, const char* datums, std::size_t groups, float* values, std::size_t stride);
  // unpack(pack()) in place.
  void (*quantize)(float* values, std::size_t stride, std::size_t groups, BfpRounding rounding);
};

// The fastest that this processor can run. The format must be a Bfp one.
const BfpKernels& bfp_kernels(DataFormat format);

// Its choices; null where the processor or the build has no such instructions.
const BfpKernels& portable_bfp_kernels(DataFormat format);
const BfpKernels* avx2_bfp_kernels(DataFormat format);

}  // namespace buda::datum
