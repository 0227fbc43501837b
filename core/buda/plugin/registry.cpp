// SPDX-License-Identifier: Apache-2.0
// Messages about names that no plugin offers.
#include <buda/plugin/registry.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::plugin {

Registries::Registries() = default;
Registries::Registries(const Registries&) = default;
Registries::Registries(Registries&&) noexcept = default;
Registries& Registries::operator=(const Registries&) = default;
Registries& Registries::operator=(Registries&&) noexcept = default;
Registries::~Registries() = default;

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::frontend:
      return "frontend";
    case Kind::decomposition:
      return "decomposition";
    case Kind::policy:
      return "policy";
    case Kind::target:
      return "target";
  }
  return "";
}

namespace {

// What has the name that was given, but is of another kind.
template <class Interface>
void note_namesake(const Registry<Interface>& registry, Kind kind, const std::string& name, Diagnostic& d) {
  if (const auto* found = registry.find(name))
    d.notes.push_back({{}, cat("'", name, "' is a ", kind_name(kind), ", of plugin ", found->from.file)});
}

}  // namespace

namespace detail {

Diagnostic unknown_name(const Registries& all, Kind kind, const std::string& name, const std::vector<std::string>& known) {
  Diagnostic d =
      usage_error("PL001", cat("no ", kind_name(kind), " named '", name,
                               "'; known: ", known.empty() ? std::string("none (no plugin of this kind was found)") : join(known, ", ")));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  note_namesake(all.frontends, Kind::frontend, name, d);
  note_namesake(all.decompositions, Kind::decomposition, name, d);
  note_namesake(all.policies, Kind::policy, name, d);
  note_namesake(all.targets, Kind::target, name, d);
  for (const OtherPlugin& other : all.others)
    if (other.name == name) d.notes.push_back({{}, cat("'", name, "' is a ", kind_name(other.kind), ": ", other.file)});
  // A plugin that was refused may be the one that was meant.
  for (const auto& b : all.broken) d.notes.push_back({{}, cat("not loaded: ", b.file, ": ", b.reason.message)});
  return d;
}

}  // namespace detail
}  // namespace buda::plugin
