// SPDX-License-Identifier: Apache-2.0
// What can be said of a plugin's file before any of its code runs.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <optional>
#include <string>

namespace buda::plugin {

// Why it cannot be a whole shared library of this machine: the loader would crash in a file that was cut short.
std::optional<std::string> damage_of(const std::string& file);

// A warning (PL010) where others could put other code there: it belongs to a user who is neither this one nor root, or all may write
// to it. `path`: a file or a folder.
std::optional<Diagnostic> warning_of_others(const std::string& path);

}  // namespace buda::plugin
