// SPDX-License-Identifier: Apache-2.0
// Options for plugins, checked as soon as the plugins are known: a misspelt name would otherwise just have no effect.
#include <buda/plugin/registry.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::plugin {
namespace {

template <class Interface>
Result<void> check_kind(const Registries& all, const Registry<Interface>& registry, Kind kind,
                        const std::map<std::string, schema::OptionValues>& given) {
  std::string prefix = cat(kind_name(kind), '.');
  Failure failure;
  for (const auto& [owner, values] : given) {
    if (!owner.starts_with(prefix)) continue;
    std::string name = owner.substr(prefix.size());
    const auto* found = registry.find(name);
    if (found == nullptr) {
      failure.add(detail::unknown_name(all, kind, name, registry.names()));
    } else if (auto checked = schema::complete_options(found->entry.options, values, owner + '.'); !checked) {
      failure.add(std::move(checked).failure());
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace

Result<void> check_options(const Registries& all, const std::vector<Kind>& kinds,
                           const std::map<std::string, schema::OptionValues>& given) {
  Failure failure;
  for (Kind kind : kinds) {
    Result<void> checked = success();
    switch (kind) {
      case Kind::frontend:
        checked = check_kind(all, all.frontends, kind, given);
        break;
      case Kind::decomposition:
        checked = check_kind(all, all.decompositions, kind, given);
        break;
      case Kind::policy:
        checked = check_kind(all, all.policies, kind, given);
        break;
      case Kind::target:
        checked = check_kind(all, all.targets, kind, given);
        break;
    }
    if (!checked) failure.add(std::move(checked).failure());
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::plugin
