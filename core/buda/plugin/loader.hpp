// SPDX-License-Identifier: Apache-2.0
// Finding and loading plugin files.
#pragma once

#include <buda/plugin/registry.hpp>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::plugin {

// Where plugins are looked for, in this order: `files` (--plugin), `directories` (--plugin-path), `environment_directories`
// ($BUDA_PLUGIN_PATH, split at colons), `installed_directory` (<exe>/../lib/buda/plugins/abi1). Never the current directory.
struct SearchPath {
  std::vector<std::string> files;
  std::vector<std::string> directories;
  std::vector<std::string> environment_directories;
  std::string installed_directory;
};

// Loads what was named and what the directories hold for the wanted kinds: files KIND_NAME.so. A file that cannot be used is kept
// with its reason in `broken`; it is an error only for files and directories that were named on the command line. Plugins stay loaded until
// the program ends.
Result<void> load_plugins(const SearchPath& path, const std::vector<Kind>& kinds, Registries& registries, Host& host);

// A plugin interface for people: "1.97a6f349" is generation 1 with public headers whose digest is 97a6f349.
std::string interface_text(std::uint32_t generation, std::uint32_t headers);

// Loads one file.
Result<void> load_plugin(const std::string& file, Registries& registries, Host& host);

// For --list-plugins: text for people, or one JSON document.
std::string list_text(const Registries& registries, const std::vector<Kind>& kinds);
std::string list_json(const Registries& registries, const std::vector<Kind>& kinds);

}  // namespace buda::plugin

#pragma GCC visibility pop
