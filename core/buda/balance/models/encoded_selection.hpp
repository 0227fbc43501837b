// SPDX-License-Identifier: Apache-2.0
// What the host writes into the two parameters of a sparse matmul.
#pragma once

#include <buda/tensor/tensor.hpp>

namespace buda::balance {

// Sparse tiles [1, 1, 32 * grid rows, 32 * tiles], and index tiles [1, 1, 32 * grid rows, 32 * index_tiles] as 32-bit words.
struct EncodedSelection {
  Tensor tiles, indices;
};

}  // namespace buda::balance
