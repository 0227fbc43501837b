// SPDX-License-Identifier: Apache-2.0
// The error model of sums: what relative error a product's sums are to be expected to have, by how many steps the matrix unit takes, how
// wide its destination register is, and how far the terms are of one sign.
//
// The matrix unit adds 16 terms at a time and rounds after each such step and phase of the fidelity. With p significant bits, u = 2^-p:
//
//   rounding   each step is off by up to u of the sum so far, up or down. After n steps that is u * sqrt((4 + n) / 16) of the last sum
//              (root mean square; fitted to sums of the matrix unit as module numerics computes them).
//   stalling   a step that is smaller than half a unit of the sum changes it no more. Terms of equal size come to that after 2^(p + 1)
//              steps of the leading phase, and all that would follow is lost.
//              Where signs differ, steps are larger than their mean, and the sum, which grows by the mean, comes to that later: by as much
//              as steps are larger. Until then their own differences make up for what is rounded away.
//
// Both are in proportion to the sum so far. Terms of one sign make it grow by all of their size; of terms of both signs most cancels, and
// what is lost of a sum is little beside its terms. So the error relative to the sum of the terms' sizes is that of terms of one sign times
// their coherence (value_signs.hpp). Measurements: docs/internals/numerics.md.
#pragma once

#include <buda/graph/tags/sum_blocks.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <optional>

namespace buda::passes {

// What the matrix unit adds at a time.
inline constexpr std::int64_t kTermsOfStep = 16;

// A sum as the matrix unit makes it.
struct SumSteps {
  std::int64_t terms = 0;   // that are not zero
  std::int64_t steps = 0;   // of up to 16 terms, in one phase
  std::int64_t phases = 1;  // in which something is added
  double coherence = 0;     // of the terms, 0 to 1
};

// Relative to the sum of the terms' sizes; root mean square over many sums.
double expected_error(const SumSteps& sum, int significant_bits);

// Above this more bits are worth their price: three times it, which hardly any sum exceeds, is one per cent. Where the price is high,
// because the register in 32 bits has room for a small part of a block only, four times as much is borne.
inline constexpr double kLargestExpectedError = 0.003;
inline constexpr double kLargestErrorAtHighPrice = 0.0125;
// Whether it is, in a destination register of this 16-bit format.
bool is_inexact_in(DataFormat accumulate, const std::optional<SumSteps>& sum, double largest_error = kLargestExpectedError);

// Added up block by block, sums of so many tiles are off by less: steps of a block round what is small yet, and each block rounds the whole
// sum once. In up to 32 blocks of up to 16 tiles, sums of terms of one sign are off by at most 0.8 % (root mean square, 8 significant
// bits). More blocks, and larger ones, stall as one long sum does.
inline constexpr std::int64_t kMaxTilesInBlocks = 256;
// Of at most kMaxTilesInBlocks.
graph::SumBlocks exact_blocks(std::int64_t tiles);
// Tiles, at least so many, that one of these blocks divides, without making many blocks of them.
std::int64_t tiles_in_blocks(std::int64_t tiles, graph::SumBlocks blocks);

}  // namespace buda::passes
