// Declaration of the options of plugin-check.
#include "apps/plugin-check/options.hpp"

#include "apps/plugin-check/run.hpp"

namespace buda::plugin_check {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.positionals("PLUGIN", o.plugins, 1, "plugin files, KIND_NAME.so");
  set.texts("sample", o.samples, "FILE", "a model that a frontend reads, or a graph with an op that a decomposition replaces");
  set.text("device", o.device, "NAME|FILE", "the device on which targets run, unless they are one themselves");
  set.real("max-error", o.max_error, "E", "largest error of an element after a decomposition, as a part of the value's largest element")
      .at_least(0);
  set.real("min-correlation", o.min_correlation, "R", "least correlation of a target's outputs with the reference").range(-1, 1);
  set.flag("values", o.values, "compare a target's outputs with the reference; false for targets that compute nothing");
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "plugin-check";
  spec.summary = "run the conformance suite of each thing that a plugin offers";
  spec.description =
      "Loads plugins and tries what their interfaces promise: a policy places sample models on every device, a decomposition keeps the "
      "meaning of sample ops, a frontend survives damaged files, a target keeps the protocol of its queues. A line for each check; what "
      "fails ends the tool with exit code 4. Installed plugins are loaded too, so that a decomposition may build on others.";
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
