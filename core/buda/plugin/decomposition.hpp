// SPDX-License-Identifier: Apache-2.0
// What a plugin of kind `decomposition` includes.
#pragma once

#include <buda/graph/editor.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/plugin/registry.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

#pragma GCC visibility push(default)

namespace buda::plugin {

// What registers a rule that has no options: registrar.add_decomposition(decomposition_entry<Divide>("divide", "a / b as a * (1 / b)")).
template <class Rule>
Entry<passes::Decomposition> decomposition_entry(std::string name, std::string summary) {
  return {.name = std::move(name), .summary = std::move(summary), .options = {}, .make = [](const schema::OptionValues&, Host&) {
            return Result<std::unique_ptr<passes::Decomposition>>(std::make_unique<Rule>());
          }};
}

// Makes all registered decompositions. `options` are those given for plugins, by "decomposition.NAME"; a name among them that no
// decomposition has is an error.
Result<passes::DecompositionSet> make_decompositions(const Registries& registries,
                                                     const std::map<std::string, schema::OptionValues>& options, Host& host);

}  // namespace buda::plugin

#pragma GCC visibility pop
