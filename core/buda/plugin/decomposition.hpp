// What a plugin of kind `decomposition` includes.
#pragma once

#include <buda/graph/editor.hpp>
#include <buda/ops/builder.hpp>
#include <buda/passes/decomposition.hpp>
#include <buda/plugin/registry.hpp>

#include <map>
#include <string>

namespace buda::plugin {

// Makes all registered decompositions. `options` are those given for plugins, by "decomposition.NAME"; a name among them that no
// decomposition has is an error.
Result<passes::DecompositionSet> make_decompositions(const Registries& registries, const std::map<std::string, schema::OptionValues>& options,
                                                     Host& host);

}  // namespace buda::plugin
