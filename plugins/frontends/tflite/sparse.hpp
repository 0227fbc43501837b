// SPDX-License-Identifier: Apache-2.0
// Constants of which the file stores some elements; the others are zeros.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/shape.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace buda::tflite_format {
struct SparsityParameters;
}  // namespace buda::tflite_format

namespace buda::tflite_frontend {

// The bytes of all elements of a tensor of this shape. `stored`: those of the elements that the file has, in its order of axes.
// Fails with a plain message, to be said of a tensor.
Result<std::string> densified(std::string_view stored, const tflite_format::SparsityParameters& sparsity, const Shape& shape,
                              std::size_t element_bytes);

}  // namespace buda::tflite_frontend
