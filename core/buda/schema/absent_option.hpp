// SPDX-License-Identifier: Apache-2.0
// Options of PyBuda that are not here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace buda::schema {

// If it is the name of such an option ("num_chips", "--num-chips"; docs/options.md): a sentence that says what does the same, or why
// nothing does.
std::optional<std::string> absent_option(std::string_view name);

}  // namespace buda::schema
