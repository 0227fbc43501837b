// SPDX-License-Identifier: Apache-2.0
// What plugins have registered: frontends, decompositions, policies and targets, by name.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/schema/option.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::passes {
class Decomposition;
}
namespace buda::balance {
class Policy;
}
namespace buda::runtime {
class Target;
}

namespace buda::plugin {

class Frontend;

enum class Kind { frontend, decomposition, policy, target };
const char* kind_name(Kind kind);

// One thing that a plugin offers. `make` is called at most once per use, with the option values completed by their defaults.
template <class Interface>
struct Entry {
  std::string name;
  std::string summary;
  std::vector<schema::OptionSpec> options;
  std::function<Result<std::unique_ptr<Interface>>(const schema::OptionValues&, Host&)> make;
};

// Where an entry comes from.
struct Provenance {
  std::string plugin;   // name of the plugin
  std::string version;  // of the plugin
  std::string file;     // path of the shared library
};

// The names of one kind. A name is registered once; a second plugin that claims it is refused.
template <class Interface>
class Registry {
 public:
  struct Registered {
    Entry<Interface> entry;
    Provenance from;
  };

  const std::map<std::string, Registered>& all() const { return entries_; }
  const Registered* find(const std::string& name) const {
    auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : &it->second;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, registered] : entries_) out.push_back(name);
    return out;
  }
  void insert(Registered r) {
    std::string name = r.entry.name;
    entries_.emplace(std::move(name), std::move(r));
  }

 private:
  std::map<std::string, Registered> entries_;
};

// A plugin file that could not be used, and why.
struct BrokenPlugin {
  std::string file;
  Diagnostic reason;
};

// A plugin file of a kind that the program does not use, by the kind and name that its file's name tells.
struct OtherPlugin {
  Kind kind = Kind::frontend;
  std::string name;
  std::string file;
};

struct LoadedPlugin {
  Provenance identity;
  std::string description;
  std::string license;
};

// All that is registered in a program.
class Registries {
 public:
  // Compiled in one place (docs/decisions/0021).
  Registries();
  Registries(const Registries&);
  Registries(Registries&&) noexcept;
  Registries& operator=(const Registries&);
  Registries& operator=(Registries&&) noexcept;
  ~Registries();

  Registry<Frontend> frontends;
  Registry<passes::Decomposition> decompositions;
  Registry<balance::Policy> policies;
  Registry<runtime::Target> targets;
  std::vector<LoadedPlugin> plugins;
  std::vector<BrokenPlugin> broken;
  std::vector<OtherPlugin> others;  // so that a name of another kind can be told
};

namespace detail {
Diagnostic unknown_name(const Registries& all, Kind kind, const std::string& name, const std::vector<std::string>& known);
}

// Makes the named thing, of one of the four kinds, with the options given for it (keys without the "policy.NAME." in front). What it throws
// later becomes a failure that names the plugin (guard.hpp).
template <class Interface>
Result<std::unique_ptr<Interface>> make(const Registries& all, const Registry<Interface>& registry, Kind kind, const std::string& name,
                                        const schema::OptionValues& given, Host& host);

// Checks options given by "kind.name" against what is registered: an owner or option that does not exist is an error with a spelling hint.
// Owners of other kinds are left alone; they may be meant for another tool.
Result<void> check_options(const Registries& all, const std::vector<Kind>& kinds, const std::map<std::string, schema::OptionValues>& given);

}  // namespace buda::plugin

#pragma GCC visibility pop
