// SPDX-License-Identifier: Apache-2.0
// Files of tensors whose order means something to their reader: NumPy's `z.files` of an .npz file is that of its members.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <string>
#include <vector>

namespace buda {

// As write_tensors (tensor_file.hpp); members of an .npz file come in the order of `names`, then those that it does not name.
Result<void> write_tensors_in_order(io::FileSystem& fs, const std::string& path, const NamedTensors& tensors,
                                    const std::vector<std::string>& names, io::WriteMode mode);

}  // namespace buda
