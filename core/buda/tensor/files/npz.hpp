// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a zip archive of .npy files.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/tensor/files/zip.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <string>
#include <vector>

namespace buda {

// Each member NAME.npy becomes the tensor NAME; anything else in the archive is an error. Stored members share the file's memory.
Result<NamedTensors> parse_npz(const io::Bytes& bytes, const std::string& path);

// Members in the order of `first`, as far as it names them, then of names. Same tensors in the same order, same bytes.
Result<void> write_npz(io::OutputFile& out, const NamedTensors& tensors, ZipMethod method = ZipMethod::stored,
                       const std::vector<std::string>& first = {});

}  // namespace buda
