// SPDX-License-Identifier: Apache-2.0
// The plugins that a stage of the compiler may use.
#pragma once

#include <buda/plugin/registry.hpp>
#include <buda/schema/option.hpp>

#include <map>
#include <string>

namespace buda::compiler {

struct PluginSet {
  const plugin::Registries& registries;
  // Options of single plugins by "kind.name": "decomposition.softmax" -> {stable: false}.
  const std::map<std::string, schema::OptionValues>& options;
};

}  // namespace buda::compiler
