// SPDX-License-Identifier: Apache-2.0
// The conformance suites, one for each kind of plugin.
#pragma once

#include "apps/plugin-check/options.hpp"
#include "apps/plugin-check/suite.hpp"

#include <buda/plugin/registry.hpp>

#include <string>

namespace buda::plugin_check {

// What a suite works with. `registries` holds the plugin that is checked, and those that are installed.
struct Bench {
  const plugin::Registries& registries;
  const Options& options;
  cli::ToolHost& host;
};

// What is registered: names, texts and options.
template <class Interface>
void check_entry(plugin::Kind kind, const plugin::Entry<Interface>& entry, Suite& suite);

void check_policy(const std::string& name, const Bench& bench, Suite& suite);
void check_decomposition(const std::string& name, const Bench& bench, Suite& suite);
void check_frontend(const std::string& name, const Bench& bench, Suite& suite);
void check_target(const std::string& name, const Bench& bench, Suite& suite);

}  // namespace buda::plugin_check
