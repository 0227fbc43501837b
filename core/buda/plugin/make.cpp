// SPDX-License-Identifier: Apache-2.0
// Making what plugins offer.
#include <buda/plugin/guard.hpp>
#include <buda/plugin/registry.hpp>

#include <buda/balance/policy/policy.hpp>
#include <buda/base/text.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/runtime/target.hpp>

// Instances have the visibility of the definition, not that of the header's declaration.
#pragma GCC visibility push(default)

namespace buda::plugin {

template <class Interface>
Result<std::unique_ptr<Interface>> make(const Registries& all, const Registry<Interface>& registry, Kind kind, const std::string& name,
                                        const schema::OptionValues& given, Host& host) {
  const auto* found = registry.find(name);
  if (found == nullptr) return detail::unknown_name(all, kind, name, registry.names());
  BUDA_ASSIGN(auto values, schema::complete_options(found->entry.options, given, cat(kind_name(kind), '.', name, '.')));
  host.fs().note_read(found->from.file);
  BUDA_ASSIGN(auto made, Guard(found->from, kind_name(kind)).call("make", [&] { return found->entry.make(values, host); }));
  if (made == nullptr)
    return internal_error(cat(kind_name(kind), " '", name, "' of plugin '", found->from.plugin, "' (", found->from.file,
                              "): make() returned neither an object nor an error; please report this to its author"));
  return guarded(std::move(made), found->from);
}

template Result<std::unique_ptr<Frontend>> make(const Registries&, const Registry<Frontend>&, Kind, const std::string&,
                                                const schema::OptionValues&, Host&);
template Result<std::unique_ptr<passes::Decomposition>> make(const Registries&, const Registry<passes::Decomposition>&, Kind,
                                                             const std::string&, const schema::OptionValues&, Host&);
template Result<std::unique_ptr<balance::Policy>> make(const Registries&, const Registry<balance::Policy>&, Kind, const std::string&,
                                                       const schema::OptionValues&, Host&);
template Result<std::unique_ptr<runtime::Target>> make(const Registries&, const Registry<runtime::Target>&, Kind, const std::string&,
                                                       const schema::OptionValues&, Host&);

}  // namespace buda::plugin

#pragma GCC visibility pop
