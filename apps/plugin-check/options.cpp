// SPDX-License-Identifier: Apache-2.0
// Declaration of the options of plugin-check.
#include "apps/plugin-check/options.hpp"

#include "apps/plugin-check/run.hpp"

namespace buda::plugin_check {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.positionals("PLUGIN", o.plugins, 1, "plugin files, KIND_NAME.so");
  set.texts("sample", o.samples, "FILE", "a model that a frontend reads, or a graph with an op that a decomposition replaces");
  cli::declare_device(set, o.device, "the device on which targets run, unless they represent a device");
  set.real("max-error", o.max_error, "E", "maximum error of an element after a decomposition, relative to the value's largest element")
      .at_least(0);
  set.real("min-correlation", o.min_correlation, "R", "minimum correlation of a target's outputs with the reference").range(-1, 1);
  set.flag("values", o.values, "compare a target's outputs with the reference; false for targets that compute nothing");
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "plugin-check";
  spec.summary = "run the conformance suite of everything that a plugin provides";
  spec.description =
      "Loads plugins and checks what their interfaces require: a policy places sample models on every device, a decomposition preserves "
      "the semantics of sample ops, a frontend rejects damaged files without an exception, a target follows the protocol of its queues. "
      "One line per check; if one fails, the exit code is 4. Installed plugins are loaded too, so that a decomposition can depend on "
      "others.";
  spec.example =
      "plugin-check build/lib/buda/plugins/abi1/policy_mine.so\n"
      "plugin-check frontend_mine.so --sample model.mine --sample other.mine";
  spec.reads = "the plugins, the samples, and the device descriptors.";
  spec.writes = "the checks and their outcomes, on standard output.";
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  return spec;
}

}  // namespace buda::plugin_check
