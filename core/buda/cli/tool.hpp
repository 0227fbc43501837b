// SPDX-License-Identifier: Apache-2.0
// The frame of every executable: options, plugins, diagnostics, exit codes. A tool's main.cpp is
//
//   int main(int argc, char** argv) {
//     balancer::Options options;
//     return buda::cli::tool_main(argc, argv, balancer::tool(options));
//   }
#pragma once

#include <buda/cli/file_kind.hpp>
#include <buda/cli/option_set.hpp>
#include <buda/plugin/registry.hpp>

#include <functional>
#include <string>
#include <vector>

// What a tool's main.cpp calls: seen from outside libbuda, though no public header declares it.
#define BUDA_EXPORT [[gnu::visibility("default")]]

namespace buda::cli {

class Timeline;

enum ExitCode : int {
  kOk = 0,
  kInputError = 1,
  kUsageError = 2,
  kDoesNotFit = 3,
  kMismatch = 4,
  kBug = 70,
  kInterrupted = 130,
};

// The exit code of a failure: that of its gravest diagnostic (a bug before a usage error before an input error, and so on).
ExitCode exit_code(const Failure& failure);

// What a tool's run function gets: the host, the plugins it asked for, and the options meant for them.
class ToolHost : public Host {
 public:
  using Host::Host;
  plugin::Registries plugins;
  // Options of plugins by "kind.name", as --set kind.name.option=value gave them.
  std::map<std::string, schema::OptionValues> plugin_options;
  // The folder of the running executable, where its fellow tools are.
  std::string bin_dir;
  // The system's folder for temporary files ($TMPDIR or /tmp).
  std::string temporary_dir = "/tmp";
  // Whether standard error is a terminal, whether terminals are shown colours (https://no-color.org), and the level of -v (-1 with -q).
  bool terminal = false, color = true;
  int verbosity = 0;
  // What is written for --timeline; null where it is not asked for. Stages that are told as progress are in it.
  Timeline* timeline = nullptr;
  // For tools that start others: the common options of this call, as arguments.
  std::vector<std::string> common_arguments;
  // Options that were given by a further name, as ParsedOptions has them.
  std::map<std::string, std::string> given_as;
  // "NAME=value" of the environment variables that options of tools are called by (PYBUDA_…), sorted.
  std::vector<std::string> option_environment;

  const schema::OptionValues& options_of(plugin::Kind kind, const std::string& name) const;
};

// Everything that makes a tool, apart from its work.
struct ToolSpec {
  std::string name;
  std::string summary;                // one line, begins with a verb
  std::string description;            // paragraphs for --help
  std::string example;                // a command line or several
  std::string reads;                  // the files it reads, a sentence
  std::string writes;                 // the files it writes, a sentence
  std::vector<plugin::Kind> plugins;  // kinds that are loaded before run
  std::function<void(OptionSet&)> declare;
  // Declares what other tools of the suite, which this one starts, have of their own. Asked when an option is given that is declared
  // nowhere else, since it takes a process for each of them; `temporary_dir` is for their answers.
  std::function<Result<void>(OptionSet&, const std::string& bin_dir, const std::string& temporary_dir)> declare_others;
  // Finds what is wrong with options that need no input: names of devices, policies, formats. Called before any input is read.
  std::function<Result<void>(ToolHost&)> check;
  // The files of other tools that this one reads; those of another kind are refused before run, with the tool to run first.
  std::function<std::vector<InputFile>()> inputs;
  // Further files that run reads, or "NAME=FILE", or folders of them: no product may replace one, not even before it is read.
  std::function<std::vector<std::string>()> also_read;
  std::function<Result<void>(ToolHost&)> run;
  // The products named by -o, for depfiles; asked before and after run.
  std::function<std::vector<std::string>()> products;
  // Products that are folders, or empty texts. Whether they can be made is tried before run.
  std::function<std::vector<std::string>()> folders;
  // Words that may stand first and stand for a tool of their own: `tti-pack info`.
  std::vector<ToolSpec> commands;
  // A command that is another executable of the suite, which gets the rest of the line as it is: `buda run` is `runner`.
  std::string executable;
  // -v is --version, where a documented tool has it so.
  bool version_is_v = false;
};

// Runs the tool and gives its exit code. Sets the C locale and signal handlers, so it is called once, by main.
BUDA_EXPORT int tool_main(int argc, char** argv, const ToolSpec& spec);

// The text of --help.
std::string help_text(const ToolSpec& spec);

// The version of the tools: "0.1.0".
std::string version_text();

}  // namespace buda::cli
