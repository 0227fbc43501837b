// SPDX-License-Identifier: Apache-2.0
// Making the decompositions that plugins offer.
#include <buda/plugin/decomposition.hpp>

#include <buda/base/text.hpp>

namespace buda::plugin {

Result<passes::DecompositionSet> make_decompositions(const Registries& registries,
                                                     const std::map<std::string, schema::OptionValues>& options, Host& host) {
  static const schema::OptionValues kNone;
  const auto& registry = registries.decompositions;
  const std::string prefix = cat(kind_name(Kind::decomposition), '.');
  Failure failure;
  passes::DecompositionSet set;
  for (const auto& [name, registered] : registry.all()) {
    auto given = options.find(prefix + name);
    auto rule = make(registries, registry, Kind::decomposition, name, given == options.end() ? kNone : given->second, host);
    if (!rule) {
      failure.add(std::move(rule).failure());
    } else {
      set.push_back({name, registered.from.file, std::move(*rule)});
    }
  }
  if (!failure.empty()) return failure;
  return set;
}

}  // namespace buda::plugin
