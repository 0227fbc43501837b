// SPDX-License-Identifier: Apache-2.0
// Sorted tables of keys and values, the files that LevelDB keeps its data in and TensorFlow the index of a checkpoint.
#pragma once

#include <buda/diag/result.hpp>

#include <map>
#include <string>
#include <string_view>

namespace buda::tensorflow_frontend {

// Every entry of a table; the values are parts of `file`. The checksum of each block is verified. An error names no file.
Result<std::map<std::string, std::string_view>> table_entries(std::string_view file);

}  // namespace buda::tensorflow_frontend
