// SPDX-License-Identifier: Apache-2.0
// What the module knows of the machine's file system beside its interface. Internal to the module.
#pragma once

#include <buda/io/file_system.hpp>

namespace buda::io {

// Whether paths of `fs` are those of the machine.
bool is_real(const FileSystem& fs);

// IO007: a product would replace a file that was read, under whatever name.
Result<void> require_not_read(const FileSystem& fs, const std::string& path);

}  // namespace buda::io
