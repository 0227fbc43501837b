// SPDX-License-Identifier: Apache-2.0
// The key of a compilation.
#include "apps/buda/compile_cache.hpp"

#include "apps/buda/run.hpp"
#include "apps/buda/stages.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/io/sha256.hpp>

#include <dlfcn.h>

#include <filesystem>

namespace buda::driver {
namespace {

// The library that this code is in; the program itself where there is none.
std::string library_path(const cli::ToolHost& host) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&cache_key), &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
  return (std::filesystem::path(host.bin_dir) / "buda").string();
}

// Without the words that say how loud, how fast and where.
std::vector<std::string> significant(const StageCommand& command, const Options& o) {
  std::vector<std::string> out{command.stage};
  for (std::size_t i = 1; i < command.argv.size(); ++i) {
    const std::string& word = command.argv[i];
    if (word == "-v" || word == "-q" || word == "--write-if-changed") continue;
    if (word.starts_with("--diagnostics=") || word.starts_with("--progress=")) continue;
    if (word == "--threads") {
      ++i;
      continue;
    }
    out.push_back(word == o.model ? cli::model_name(o.model) : word);
  }
  return out;
}

}  // namespace

Result<std::string> cache_key(const Options& o, cli::ToolHost& host) {
  // Digests of what is code; read apart from the host, whose notes of what was read are for depfiles.
  auto files = io::make_real_file_system();
  std::vector<std::string> code = {library_path(host)};
  for (const char* stage : kStages) code.push_back((std::filesystem::path(host.bin_dir) / stage).string());
  for (const auto& plugin : host.plugins.others) code.push_back(plugin.file);
  std::string text = cat("buda compile ", cli::version_text(), '\n');
  for (const auto& path : code) {
    BUDA_ASSIGN(auto bytes, files->read(path));
    text += cat(std::filesystem::path(path).filename().string(), ' ', io::sha256_hex(bytes.view()), '\n');
  }
  for (const auto& variable : host.option_environment) text += variable + '\n';
  const BuildFiles build("build", cli::model_name(o.model));
  for (const auto& command : stage_commands(o, host, build, "image.tti"))
    for (const auto& word : significant(command, o)) text += cat(word.size(), ' ', word, '\n');
  BUDA_ASSIGN(auto model, files->read(o.model));
  text += io::sha256_hex(model.view());
  return io::sha256_hex(text);
}

}  // namespace buda::driver
