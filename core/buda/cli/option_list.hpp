// SPDX-License-Identifier: Apache-2.0
// The options of a tool for other tools: what --list-options writes.
#pragma once

#include <buda/cli/option_set.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <string>
#include <vector>

namespace buda::cli {

// A JSON list: for each option that does not stand under the heading `left_out` its name, spellings, type and summary.
std::string options_json(const std::vector<BoundOption>& options, const std::string& left_out);

// The declarations in such a file. Checks of values are not among them: the tool that has the option makes them.
Result<std::vector<schema::OptionSpec>> read_options(io::FileSystem& fs, const std::string& path);

}  // namespace buda::cli
