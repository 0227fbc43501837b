// SPDX-License-Identifier: Apache-2.0
// Loads plugins and runs the suites of what they offer.
#include "apps/plugin-check/run.hpp"

#include "apps/plugin-check/checks.hpp"

#include <buda/plugin/abi.h>
#include <buda/base/text.hpp>
#include <buda/plugin/loader.hpp>

#include <algorithm>
#include <filesystem>

namespace buda::plugin_check {
namespace {

using plugin::Kind;

// The plugins that are named, and then those installed, without files that are among the former.
Result<void> load(const Options& o, cli::ToolHost& host) {
  Failure failure;
  for (const std::string& file : o.plugins)
    if (auto loaded = plugin::load_plugin(file, host.plugins, host); !loaded) failure.add(std::move(loaded).failure());
  if (!failure.empty()) return failure;
  plugin::SearchPath path;
  path.installed_directory =
      (std::filesystem::path(host.bin_dir).parent_path() / cat("lib/buda/plugins/abi", BUDA_ABI_GENERATION)).string();
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
