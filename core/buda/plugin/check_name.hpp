// SPDX-License-Identifier: Apache-2.0
// Whether something is registered under a name, before it is made.
#pragma once

#include <buda/plugin/registry.hpp>

namespace buda::plugin {

// PL001 with the names that there are.
template <class Interface>
Result<void> check_name(const Registries& all, const Registry<Interface>& registry, Kind kind, const std::string& name) {
  if (registry.find(name) != nullptr) return success();
  return detail::unknown_name(all, kind, name, registry.names());
}

}  // namespace buda::plugin
