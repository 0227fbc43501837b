// SPDX-License-Identifier: Apache-2.0
// Removing folders. Internal to the library.
#pragma once

#include <string>
#include <system_error>

namespace buda::io {

// A file, a link, or a folder with all that is in it; links are not followed. What cannot be removed stays, and its error is told; it is
// none that there is nothing. One open file is enough: where they have run out, what was begun is to be taken back all the same.
std::error_code remove_tree(const std::string& path);

}  // namespace buda::io
