// NumPy's .npy: one array.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/tensor/tensor.hpp>

#include <string>
#include <string_view>

namespace buda {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Versions 1, 2 and 3 of the format, little endian, C or Fortran order (which is turned into C order). `where` names the file, and the
// member within it, in messages.
Result<Tensor> parse_npy(const io::Bytes& bytes, const std::string& where);

// What precedes the elements: version 1, padded so that they start at a multiple of 64 bytes; version 2 where the header is too long.
std::string npy_header(const Tensor& tensor);

}  // namespace buda
