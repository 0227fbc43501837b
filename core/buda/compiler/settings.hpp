// SPDX-License-Identifier: Apache-2.0
// The options in effect, as an image tells them.
#pragma once

#include <buda/compiler/balancer_options.hpp>
#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/schema/option.hpp>

#include <map>
#include <string>

namespace buda::compiler {

using Settings = std::map<std::string, std::string>;
using PluginOptions = std::map<std::string, schema::OptionValues>;  // by "kind.name"

// Values by name: "optimizer.opt-level"; an option that the PyBuda documents have a variable for goes by that: "PYBUDA_AMP_LIGHT". Options
// of plugins are there as "policy.ribbon.KEY". Options without a value, and flags that are off and are so by default, are left out.
Settings settings_in_effect(const OptimizerOptions& optimizer, const PluginOptions& plugins);
Settings settings_in_effect(const BalancerOptions& balancer, const PluginOptions& plugins);

// The balancer's options that such settings say, and those of plugins, which are added. Settings of other stages are passed over.
Result<BalancerOptions> balancer_options(const Settings& settings, PluginOptions& plugins);

// The file in which stages hand them on: a JSON map of texts.
std::string settings_text(const Settings& settings);
Result<Settings> read_settings(io::FileSystem& fs, const std::string& path);

}  // namespace buda::compiler
