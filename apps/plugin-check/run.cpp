// SPDX-License-Identifier: Apache-2.0
// Loads plugins and runs the suites of what they offer.
#include "apps/plugin-check/run.hpp"

#include "apps/plugin-check/checks.hpp"

#include <buda/plugin/abi.h>
#include <buda/base/text.hpp>
#include <buda/io/process.hpp>
#include <buda/plugin/loader.hpp>

#include <algorithm>
#include <filesystem>

namespace buda::plugin_check {
namespace {

using plugin::Kind;

std::string installed_plugins(const cli::ToolHost& host) {
  return (std::filesystem::path(host.bin_dir).parent_path() / cat("lib/buda/plugins/abi", BUDA_ABI_GENERATION)).string();
}

// Plugin files of a directory; with a name only that of this name: "spread" or "policy_spread" of policy_spread.so.
std::vector<std::string> plugins_in(const std::string& directory, std::string_view name, Host& host) {
  std::vector<std::string> out;
  const auto files = host.fs().list(directory);
  if (!files) return out;
  for (const std::string& file : *files)
    if (file.ends_with(cat(name, ".so")) && (name.empty() || file.size() == name.size() + 3 || file.ends_with(cat('_', name, ".so"))))
      out.push_back((std::filesystem::path(directory) / file).string());
  return out;
}

// A hint for PL002 (there is no such plugin file): the argument may be the name of a plugin, or a folder that holds plugins.
Failure with_files(Failure failure, const std::string& given, cli::ToolHost& host) {
  for (Diagnostic& d : failure.diagnostics()) {
    if (d.code != "PL002") continue;
    const bool is_folder = host.fs().is_directory(given);
    const auto files = is_folder ? plugins_in(given, "", host) : plugins_in(installed_plugins(host), given, host);
    if (!files.empty()) {
      d.hint = cat(is_folder ? "name files of it: " : "did you mean: ", io::shell_line({"plugin-check", files.front()}));
    } else if (is_folder) {
      d.hint = "it holds no file that ends with .so; the build of a plugin makes one";
    }
  }
  return failure;
}

// The plugins that are named, and then those installed, without files that are among the former.
Result<void> load(const Options& o, cli::ToolHost& host) {
  Failure failure;
  for (const std::string& file : o.plugins)
    if (auto loaded = plugin::load_plugin(file, host.plugins, host); !loaded)
      failure.add(with_files(std::move(loaded).failure(), file, host));
  if (!failure.empty()) return failure;
  plugin::SearchPath path;
  path.installed_directory = installed_plugins(host);
  return plugin::load_plugins(path, {Kind::frontend, Kind::decomposition, Kind::policy, Kind::target}, host.plugins, host);
}

class Checker {
 public:
  Checker(const Options& options, cli::ToolHost& host) : bench_{host.plugins, options, host} {}

  template <class Interface>
  void each(Kind kind, const plugin::Registry<Interface>& registry, void (*check)(const std::string&, const Bench&, Suite&)) {
    const std::vector<std::string>& files = bench_.options.plugins;
    for (const auto& [name, registered] : registry.all()) {
      if (std::find(files.begin(), files.end(), registered.from.file) == files.end()) continue;
      Suite suite(cat(plugin::kind_name(kind), " '", name, '\''));
      check_entry(kind, registered.entry, suite);
      check(name, bench_, suite);
      text_ += cat(plugin::kind_name(kind), ' ', name, '\n', suite.text());
      for (const Diagnostic& d : suite.failed()) failure_.add(d);
      ++subjects_;
    }
  }

  Result<void> finish() {
    BUDA_TRY(bench_.host.fs().write(std::string(io::kStdStream), text_));
    if (subjects_ == 0) return broken("the plugins register nothing");
    if (!failure_.empty()) return failure_;
    return success();
  }

 private:
  Bench bench_;
  std::string text_;
  Failure failure_;
  std::size_t subjects_ = 0;
};

}  // namespace

Result<void> run(const Options& o, cli::ToolHost& host) {
  BUDA_TRY(load(o, host));
  Checker checker(o, host);
  checker.each(Kind::frontend, host.plugins.frontends, check_frontend);
  checker.each(Kind::decomposition, host.plugins.decompositions, check_decomposition);
  checker.each(Kind::policy, host.plugins.policies, check_policy);
  checker.each(Kind::target, host.plugins.targets, check_target);
  return checker.finish();
}

}  // namespace buda::plugin_check
