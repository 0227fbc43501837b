// SPDX-License-Identifier: Apache-2.0
// Products that would replace what a command reads.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <string>

namespace buda::io {

// IO007.
Diagnostic would_replace_input(const std::string& path);

}  // namespace buda::io
