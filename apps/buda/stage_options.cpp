// SPDX-License-Identifier: Apache-2.0
// The stages know their options; so there is one list of them, theirs.
#include "apps/buda/stage_options.hpp"

#include "apps/buda/run.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/about_model.hpp>
#include <buda/cli/option_list.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace buda::driver {
namespace {

// What the driver says to the stages: where their files are, and what they are called.
constexpr std::array<std::string_view, 10> kChosenByDriver = {"output",  "format", "plan",     "report",          "name",
                                                              "netlist", "build",  "settings", "trial-placement", "misfits"};

bool is_chosen_by_driver(const std::string& name) {
  return std::find(kChosenByDriver.begin(), kChosenByDriver.end(), name) != kChosenByDriver.end();
}

Result<std::vector<schema::OptionSpec>> options_of(const std::string& stage, const std::string& bin_dir, const std::string& folder) {
  std::string answer = cat(folder, '/', stage, ".json");
  BUDA_ASSIGN(io::ProcessResult ended, io::run_process({(std::filesystem::path(bin_dir) / stage).string(), "--list-options", answer}));
  if (ended.exit_code != 0) return input_error("BD004", {}, cat("stage ", stage, " does not list its options"));
  auto fs = io::make_real_file_system();
  return cli::read_options(*fs, answer);
}

}  // namespace

Result<void> declare_stage_options(cli::OptionSet& set, Options& options, const std::string& bin_dir, const std::string& temporary_dir) {
  BUDA_ASSIGN(auto folder, io::TemporaryDirectory::make(temporary_dir, std::string(cli::kTemporaryPrefix)));
  std::vector<std::pair<std::string, schema::OptionSpec>> found;
  std::map<std::string, std::vector<std::string>> stages;  // by option
  for (const char* stage : stages_of(options)) {
    BUDA_ASSIGN(auto specs, options_of(stage, bin_dir, folder.path()));
    for (schema::OptionSpec& spec : specs) {
      if (set.find(spec.name) != nullptr || is_chosen_by_driver(spec.name)) continue;
      stages[spec.name].push_back(stage);
      if (stages[spec.name].size() == 1) found.emplace_back(stage, std::move(spec));
    }
  }
  for (auto& [stage, spec] : found) {
    set.group(cat("Options of ", stage));
    bool is_flag = spec.type == schema::OptionType::flag;
    auto hand_on = [&options, is_flag, name = spec.name, whose = stages[spec.name]](const std::vector<std::string>& texts) {
      for (const std::string& which : whose)
        for (const std::string& text : texts) {
          std::vector<std::string>& arguments = options.handed_on[which];
          if (is_flag) {
            arguments.push_back(cat("--", name, '=', text));
          } else {
            arguments.insert(arguments.end(), {cat("--", name), text});
          }
        }
    };
    set.declare(std::move(spec), std::move(hand_on));
  }
  return success();
}

}  // namespace buda::driver
