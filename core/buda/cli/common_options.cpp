// Declaration of the options that every tool has.
#include <buda/cli/common_options.hpp>

namespace buda::cli {

void declare_common(OptionSet& set, CommonOptions& common) {
  set.group("Common options");
  set.flag("help", common.help, "show this text").also("-h");
  set.flag("version", common.version, "show the version");
  set.count("verbose", common.verbose, "say what is being done; -vv: in detail").also("-v");
  set.flag("quiet", common.quiet, "print errors only").also("-q");
  set.choice("diagnostics", common.diagnostics, {"text", "json"}, "form of messages on standard error");
  set.path("config", common.config, "FILE", "read options from a YAML or JSON map");
  set.texts("set", common.set, "KEY=VALUE", "set any option, also a plugin's (policy.NAME.OPTION=VALUE)");
  set.flag("print-config", common.print_config, "write the options in effect to standard output and end");
  set.choice("list-plugins", common.list_plugins, {"text", "json"}, "list the plugins in use, and those refused, and end");
  set.path("list-options", common.list_options, "FILE", "write this tool's own options to FILE as JSON and end; - is standard output");
  set.texts("plugin", common.plugin, "FILE", "load this plugin");
  set.texts("plugin-path", common.plugin_path, "DIR", "look for plugins there first");
  set.unsigned_integer("threads", common.threads, "N", "threads to use, 0 for all cores; the result does not depend on it");
  set.seed("seed", common.seed, "N", "seed of everything random");
  set.flag("depfile", common.depfile, "write a Makefile rule that lists every file read").also("-MD");
  set.path("depfile-name", common.depfile_name, "FILE", "name of that rule's file; default: the product with .d added").also("-MF");
  set.text("depfile-target", common.depfile_target, "NAME", "target of that rule; default: the product").also("-MT");
  set.path("made-from", common.made_from, "MODEL",
           "the input is what other tools made of MODEL: messages about it name MODEL and its nodes");
  set.flag("write-if-changed", common.write_if_changed, "leave products alone whose content would be the same");
}

}  // namespace buda::cli
