// SPDX-License-Identifier: Apache-2.0
// From arguments, config file and environment to checked option values.
#pragma once

#include <buda/cli/option_set.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace buda::cli {

// The value of an environment variable, or nothing.
using EnvironmentFn = std::function<std::optional<std::string>(const std::string& name)>;

struct ParsedOptions {
  schema::OptionValues values;  // of declared options, by name
  std::vector<std::string> positionals;
  std::map<std::string, schema::OptionValues> plugin_options;  // "policy.ribbon" -> values
  std::map<std::string, std::string> given_as;                 // "default-df-override" -> "--default-df", where a further name was given
};

// Precedence: command line and --set, then environment, then config file, then defaults. All errors are collected.
Result<ParsedOptions> parse_command_line(const std::vector<std::string>& arguments, const OptionSet& set, const EnvironmentFn& environment,
                                         io::FileSystem& fs);

// Puts the values where the declarations point.
Result<void> store_options(const ParsedOptions& parsed, const OptionSet& set);

// Whether a command's input is that of an option, -i, and not an argument.
bool has_input_option(const OptionSet& set);

// The options in effect as a YAML map that --config reads back.
std::string config_text(const ParsedOptions& parsed, const OptionSet& set);

}  // namespace buda::cli
