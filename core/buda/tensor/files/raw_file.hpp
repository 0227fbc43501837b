// SPDX-License-Identifier: Apache-2.0
// Tensors that lie bare in a file of any format: their elements, row-major and little endian, from some byte on, as bytes or as text.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace buda {

// `file_size` is that of the file when the place was noted: a file of another size is not the one that was meant.
struct RawPlace {
  std::int64_t offset = 0;  // bytes
  std::int64_t file_size = 0;
  bool hex = false;  // two hexadecimal digits for each byte of the elements
  friend auto operator<=>(const RawPlace&, const RawPlace&) = default;
};

// Shares the memory of the (mapped) file. `file` is the content of `path`. A file of another size, or a tensor that does not lie within
// it, is an error that names the file.
Result<Tensor> raw_tensor(const io::Bytes& file, const std::string& path, const RawPlace& place, DType dtype, Shape shape);

}  // namespace buda

#pragma GCC visibility pop
