// SPDX-License-Identifier: Apache-2.0
// Files that grow while a run goes on: one that is killed leaves what it has written.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <memory>
#include <string>

namespace buda::io {

// In contrast to create() the file is there from the beginning, empty, and each piece is in it at once. In memory it appears with commit().
Result<std::unique_ptr<OutputFile>> create_log(FileSystem& fs, const std::string& path);

}  // namespace buda::io
