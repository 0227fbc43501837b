// SPDX-License-Identifier: Apache-2.0
// The options that every tool has.
#pragma once

#include <buda/cli/option_set.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::cli {

struct CommonOptions {
  bool help = false;
  bool version = false;
  unsigned verbose = 0;  // how often -v is given
  bool quiet = false;
  std::string diagnostics = "text";
  std::string progress = "bar";
  std::string timeline;  // a file; empty: not asked for
  std::string config;
  std::vector<std::string> set;
  bool print_config = false;
  bool check_options = false;
  std::string list_plugins;  // "", "text" or "json"
  std::string list_options;  // a file; empty: not asked for
  std::vector<std::string> plugin;
  std::vector<std::string> plugin_path;
  unsigned threads = 0;
  std::uint64_t seed = 1;
  bool depfile = false;
  std::string depfile_name;
  std::string depfile_target;
  bool write_if_changed = false;
  std::string made_from;  // the model behind the input
};

// `version_is_v`: -v is the short form of --version, not of --verbose.
void declare_common(OptionSet& set, CommonOptions& common, bool version_is_v = false);

}  // namespace buda::cli
