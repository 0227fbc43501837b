// SPDX-License-Identifier: Apache-2.0
// Declaration of the options that every tool has.
#include <buda/cli/common_options.hpp>

namespace buda::cli {

void declare_common(OptionSet& set, CommonOptions& common, bool version_is_v) {
  set.group("Common options");
  set.flag("help", common.help, "show this text").also("-h");
  auto& version = set.flag("version", common.version, "show the version");
  if (version_is_v) version.also("-v");
  auto& verbose = set.count("verbose", common.verbose,
                            version_is_v ? "print what is done; twice: in more detail" : "print what is done; -vv: in more detail");
  if (!version_is_v) verbose.also("-v");
  set.flag("quiet", common.quiet, "print errors only").also("-q");
  set.choice("diagnostics", common.diagnostics, {"text", "json"}, "form of messages on standard error");
  set.choice("progress", common.progress, {"bar", "json", "off"},
             "how work that takes longer than a second is told: bar: on a terminal, with the time left; json: a line on standard error for "
             "each step");
  set.path("timeline", common.timeline, "FILE", "write when this tool did what, for Perfetto or chrome://tracing");
  set.path("config", common.config, "FILE", "read options from a YAML or JSON map");
  set.texts("set", common.set, "KEY=VALUE", "set any option, also a plugin's (policy.NAME.OPTION=VALUE)");
  set.flag("print-config", common.print_config, "print the options in effect and exit");
  set.flag("check-options", common.check_options, "check the options and their values, read no input, and exit");
  set.choice("list-plugins", common.list_plugins, {"text", "json"}, "list the plugins, and those that were rejected, and exit");
  set.path("list-options", common.list_options, "FILE", "write this tool's own options to FILE as JSON and exit; - is standard output");
  set.texts("plugin", common.plugin, "FILE", "load this plugin");
  set.texts("plugin-path", common.plugin_path, "DIR", "search this folder for plugins before the installed ones");
  set.unsigned_integer("threads", common.threads, "N", "threads to use, 0 for all cores; the result does not depend on it");
  set.seed("seed", common.seed, "N", "seed of all random numbers");
  set.flag("depfile", common.depfile, "write a make rule that lists all files that were read").also("-MD");
  set.path("depfile-name", common.depfile_name, "FILE", "name of that rule's file; default: the product with .d added").also("-MF");
  set.text("depfile-target", common.depfile_target, "NAME", "target of that rule; default: the product").also("-MT");
  set.path("made-from", common.made_from, "MODEL", "the input was compiled from MODEL: messages name MODEL and its nodes");
  set.flag("write-if-changed", common.write_if_changed, "do not touch products whose content would not change");
}

}  // namespace buda::cli
