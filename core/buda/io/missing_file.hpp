// SPDX-License-Identifier: Apache-2.0
// What to say of a file that is not there, and of a directory in place of a file.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <string>

namespace buda::io {

// IO001 with the system's `reason`. The hint names a file of the folder whose name is nearly the same, or the folder that is missing.
Diagnostic missing_file(FileSystem& fs, const std::string& path, const std::string& reason);

// IO001: a directory where a file is read.
Diagnostic directory_for_file(const std::string& path);

}  // namespace buda::io
