// SPDX-License-Identifier: Apache-2.0
// Tensors in files: .npy, .npz, safetensors, and ONNX's TensorProto (.pb).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/file_system.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda {

// Reads a file in the format that its first bytes show, whatever its name (a TensorProto shows nothing: its name ends with .pb). The one
// tensor of an .npy file, or of a .pb file that does not name it, is named after the file, without folder and ending. Data is shared with
// the (mapped) file where it can be.
Result<NamedTensors> read_tensors(io::FileSystem& fs, const std::string& path);
// The same for bytes at hand; `path` is used in messages and for the name of a single tensor.
Result<NamedTensors> parse_tensors(io::Bytes bytes, const std::string& path);

// Does the path's ending name a format that tensors can be written in? Asked before the work whose result it is to hold.
Result<void> check_tensor_path(const std::string& path);

// Writes in the format that the path's ending names: .npy or .pb (exactly one tensor), .npz (stored) or .safetensors. Same tensors, same
// bytes.
Result<void> write_tensors(io::FileSystem& fs, const std::string& path, const NamedTensors& tensors,
                           io::WriteMode mode = io::WriteMode::always);

}  // namespace buda

#pragma GCC visibility pop
