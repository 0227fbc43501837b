// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy: one array.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/tensor/fwd.hpp>

#include <string>
#include <string_view>

namespace buda {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Versions 1, 2 and 3 of the format, little endian, C or Fortran order (which is turned into C order). The tensor shares the bytes where
// it can. `path` is the file named in messages.
Result<Tensor> parse_npy(const io::Bytes& bytes, const std::string& path);

// What precedes the elements: version 1, padded so that they start at a multiple of 64 bytes; version 2 where the shape is too long.
std::string npy_header(const Tensor& tensor);

}  // namespace buda
