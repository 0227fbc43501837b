// Messages about names that no plugin offers.
#include <buda/plugin/registry.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::plugin {

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

namespace detail {

Diagnostic unknown_name(Kind kind, const std::string& name, const std::vector<std::string>& known,
                        const std::vector<BrokenPlugin>& broken) {
  Diagnostic d =
      usage_error("PL001", cat("no ", kind_name(kind), " named '", name,
                               "'; known: ", known.empty() ? std::string("none (no plugin of this kind was found)") : join(known, ", ")));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  // A plugin that was refused may be the one that was meant.
  for (const auto& b : broken) d.notes.push_back({{}, cat("not loaded: ", b.file, ": ", b.reason.message)});
  return d;
}

}  // namespace detail
}  // namespace buda::plugin
