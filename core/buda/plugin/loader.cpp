// SPDX-License-Identifier: Apache-2.0
// Loading of plugins with Boost.DLL, and the refusals.
#include <buda/plugin/loader.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/io/missing_file.hpp>
#include <buda/io/process.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/plugin_file.hpp>
#include <buda/plugin/running.hpp>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <set>
#include <utility>

namespace buda::plugin {
namespace {

Diagnostic refused(const std::string& file, const char* code, std::string message) { return input_error(code, {file}, std::move(message)); }

// The libraries outlive every registry entry, whose code lies in them: they are never unloaded.
std::vector<boost::dll::shared_library>& libraries() {
  static auto* loaded = new std::vector<boost::dll::shared_library>;
  return *loaded;
}

// What the system's loader says, such as which symbol is missing; Boost keeps only a number of it.
std::string loader_text(const std::string& location, const std::string& otherwise) {
  const char* said = ::dlerror();
  if (said == nullptr) return otherwise;
  std::string_view text = said;
  if (text.starts_with(cat(location, ": "))) text.remove_prefix(location.size() + 2);
  return std::string(text);
}

// What a function of a plugin gives that must not throw.
template <class Fn>
auto without_exceptions(const std::string& file, Fn&& fn) -> Result<decltype(fn())> {
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return refused(file, "PL012", cat("it threw while it was loaded: ", e.what(), "; please report this to its author"));
  } catch (...) {
    return refused(file, "PL012", "it threw while it was loaded: an object that is not a std::exception; please report this to its author");
  }
}

// Names that other plugins have taken, in one warning: a folder of plugins may hold all that another one does.
void report_left_out(const std::vector<BrokenPlugin>& left_out, Host& host) {
  if (left_out.empty()) return;
  Diagnostic d = warning("PL007", {left_out.front().file, 0, 0}, cat("is left out: ", left_out.front().reason.message));
  if (left_out.size() > 1) d.notes.push_back({{}, cat("and so are ", left_out.size() - 1, " more; --list-plugins shows them")});
  host.report(d);
}

// The kinds of plugins whose headers such a digest is of: all for the digest of all public headers; none for one of other headers.
std::vector<Kind> kinds_of(std::uint32_t headers) {
  constexpr std::pair<Kind, std::uint32_t> kDigests[] = {{Kind::frontend, BUDA_ABI_FRONTEND},
                                                         {Kind::decomposition, BUDA_ABI_DECOMPOSITION},
                                                         {Kind::policy, BUDA_ABI_POLICY},
                                                         {Kind::target, BUDA_ABI_TARGET}};
  std::vector<Kind> out;
  for (const auto& [kind, digest] : kDigests)
    if (headers == digest || headers == BUDA_ABI_HEADERS) out.push_back(kind);
  return out;
}

// The fields are checked in the order in which abi.h lists them: nothing after the first that does not fit can be trusted.
std::optional<Diagnostic> check_info(const std::string& file, const buda_plugin_info* info) {
  if (info == nullptr) return refused(file, "PL004", "its buda_plugin_query gives no information");
  if (info->magic != BUDA_PLUGIN_MAGIC)
    return refused(file, "PL004", "its information does not begin with the magic number of an OpenBuda plugin");
  if (info->struct_size < sizeof(buda_plugin_info))
    return refused(file, "PL005",
                   cat("its information has ", info->struct_size, " bytes where this program expects ", sizeof(buda_plugin_info),
                       "; it was built for an older OpenBuda and must be built again"));
  if (info->abi_generation != BUDA_ABI_GENERATION || kinds_of(info->abi_headers).empty())
    return refused(
        file, "PL005",
        cat("it was built for plugin interface ", interface_text(info->abi_generation, info->abi_headers), ", and this program has ",
            interface_text(BUDA_ABI_GENERATION, BUDA_ABI_HEADERS), "; build it again with the headers of this OpenBuda"));
  for (const char* text : {info->name, info->version, info->description, info->license, info->cxx_abi})
    if (text == nullptr || *text == '\0') return refused(file, "PL004", "its name, version, description, license or C++ ABI is missing");
  if (info->cxx_abi != std::string_view(BUDA_CXX_ABI))
    return refused(file, "PL005",
                   cat("it was built for the C++ ABI '", info->cxx_abi, "' and this program has '", BUDA_CXX_ABI,
                       "'; build it with the same compiler and standard library"));
  if (info->register_fn == nullptr) return refused(file, "PL004", "it has no register function");
  return std::nullopt;
}

template <class Interface>
std::optional<Diagnostic> check_names(const std::string& file, Kind kind, const std::vector<Entry<Interface>>& entries,
                                      const Registry<Interface>& registry) {
  std::set<std::string> own;
  for (const auto& e : entries) {
    if (e.name.empty() || !e.make)
      return refused(file, "PL004", cat("it registers a ", kind_name(kind), " without a name or a make function"));
    if (!own.insert(e.name).second) return refused(file, "PL007", cat("it registers the ", kind_name(kind), " '", e.name, "' twice"));
    if (const auto* other = registry.find(e.name))
      return refused(file, "PL007",
                     cat("it registers the ", kind_name(kind), " '", e.name, "', which ", other->from.file,
                         " has registered already; rename one of them"));
  }
  return std::nullopt;
}

// A plugin that was built with the headers of one kind knows nothing of other kinds' interfaces.
template <class Interface>
std::optional<Diagnostic> check_kind(const std::string& file, Kind kind, const std::vector<Entry<Interface>>& entries,
                                     const std::vector<Kind>& built_for) {
  if (entries.empty() || std::find(built_for.begin(), built_for.end(), kind) != built_for.end()) return std::nullopt;
  return refused(file, "PL005",
                 cat("it registers a ", kind_name(kind), ", but was built with the headers of a ", kind_name(built_for.front()),
                     "; build it with buda_add_plugin(… KIND ", kind_name(kind), ")"));
}

template <class Interface>
void take_over(std::vector<Entry<Interface>>& entries, Registry<Interface>& registry, const Provenance& from) {
  for (auto& e : entries) registry.insert({std::move(e), from});
}

// What the name KIND_NAME.so tells.
std::optional<OtherPlugin> plugin_of_file(std::string_view file_name) {
  if (!file_name.ends_with(".so")) return std::nullopt;
  for (Kind kind : {Kind::frontend, Kind::decomposition, Kind::policy, Kind::target}) {
    const std::string start = cat(kind_name(kind), '_');
    if (file_name.starts_with(start))
      return OtherPlugin{kind, std::string(file_name.substr(start.size(), file_name.size() - start.size() - 3)), ""};
  }
  return std::nullopt;
}

template <class Interface>
void append_text(std::string& out, Kind kind, const Registry<Interface>& registry, const std::vector<Kind>& kinds) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return;
  for (const auto& [name, r] : registry.all()) {
    out +=
        cat(kind_name(kind), ' ', name, "  ", r.entry.summary, "\n    from ", r.from.file, " (", r.from.plugin, ' ', r.from.version, ")\n");
    for (const auto& o : r.entry.options)
      out += cat("    ", kind_name(kind), '.', name, '.', o.name, '=',
                 o.default_text.empty() ? cat('<', o.value_name, '>') : o.default_text, "  ", o.summary, '\n');
  }
}

template <class Interface>
void append_json(io::Node& list, Kind kind, const Registry<Interface>& registry, const std::vector<Kind>& kinds) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return;
  for (const auto& [name, r] : registry.all()) {
    io::Node options = io::Node::list();
    for (const auto& o : r.entry.options)
      options.push(io::Node::map(
          {{"name", io::Node::string(o.name)}, {"default", io::Node::string(o.default_text)}, {"summary", io::Node::string(o.summary)}}));
    list.push(io::Node::map({{"kind", io::Node::string(kind_name(kind))},
                             {"name", io::Node::string(name)},
                             {"summary", io::Node::string(r.entry.summary)},
                             {"plugin", io::Node::string(r.from.plugin)},
                             {"version", io::Node::string(r.from.version)},
                             {"file", io::Node::string(r.from.file)},
                             {"options", std::move(options)}}));
  }
}

}  // namespace

std::string interface_text(std::uint32_t generation, std::uint32_t headers) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%u.%08x", generation, headers);
  return text.data();
}

Result<void> load_plugin(const std::string& file, Registries& registries, Host& host) {
  if (!host.fs().exists(file)) {
    Diagnostic d = refused(file, "PL002", "there is no such plugin file");
    d.hint = io::missing_file(host.fs(), file, "").hint;
    return d;
  }
  if (host.fs().is_directory(file)) {
    Diagnostic d = refused(file, "PL002", "this is a directory; a plugin is a file");
    d.hint = cat("the plugins of a directory are taken by: ", io::shell_line({"--plugin-path", file}));
    return d;
  }
  for (const auto& p : registries.plugins)
    if (p.identity.file == file || host.fs().canonical(p.identity.file) == host.fs().canonical(file)) return success();
  if (const auto damage = damage_of(file)) return refused(file, "PL003", cat("it cannot be loaded as a shared library: ", *damage));
  // Its constructors run while it is loaded.
  const InPlugin running(plugin_code(cat("plugin ", file), file));
  boost::dll::shared_library library;
  boost::dll::fs::error_code error;
  // dlopen would look for a name without a slash on its own search path; this is a file.
  std::string location = file.find('/') == std::string::npos ? "./" + file : file;
  BUDA_TRY(without_exceptions(file, [&] {
    library.load(location, error, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    return true;
  }));
  if (error) return refused(file, "PL003", cat("it cannot be loaded as a shared library: ", loader_text(location, error.message())));
  if (!library.has("buda_plugin_query"))
    return refused(file, "PL004", "it is a shared library but not an OpenBuda plugin: it does not export buda_plugin_query");
  // From here on the library stays: its code may be referred to, by an exception too.
  libraries().push_back(library);
  BUDA_ASSIGN(const buda_plugin_info* info, without_exceptions(file, library.get<const buda_plugin_info*()>("buda_plugin_query")));
  if (auto problem = check_info(file, info)) return *problem;
  Registrar registrar;
  BUDA_ASSIGN(const int failed, without_exceptions(file, [&] { return info->register_fn(&registrar, &host); }));
  if (failed != 0) return refused(file, "PL008", cat("its registration failed", registrar.error.empty() ? "" : cat(": ", registrar.error)));
  const std::vector<Kind> built_for = kinds_of(info->abi_headers);
  for (auto problem :
       {check_kind(file, Kind::frontend, registrar.frontends, built_for),
        check_kind(file, Kind::decomposition, registrar.decompositions, built_for),
        check_kind(file, Kind::policy, registrar.policies, built_for), check_kind(file, Kind::target, registrar.targets, built_for)})
    if (problem) return *problem;
  for (auto problem : {check_names(file, Kind::frontend, registrar.frontends, registries.frontends),
                       check_names(file, Kind::decomposition, registrar.decompositions, registries.decompositions),
                       check_names(file, Kind::policy, registrar.policies, registries.policies),
                       check_names(file, Kind::target, registrar.targets, registries.targets)})
    if (problem) return *problem;
  Provenance from{info->name, info->version, file};
  take_over(registrar.frontends, registries.frontends, from);
  take_over(registrar.decompositions, registries.decompositions, from);
  take_over(registrar.policies, registries.policies, from);
  take_over(registrar.targets, registries.targets, from);
  registries.plugins.push_back({from, info->description, info->license});
  host.log(2, cat("plugin ", info->name, ' ', info->version, " from ", file));
  return success();
}

Result<void> load_plugins(const SearchPath& path, const std::vector<Kind>& kinds, Registries& registries, Host& host) {
  Failure failure;
  std::vector<BrokenPlugin> left_out;
  auto warn_of_others = [&](const std::string& place) {
    if (const auto d = warning_of_others(place)) host.report(*d);
  };
  for (const auto& file : path.files) {
    warn_of_others(file);
    if (auto loaded = load_plugin(file, registries, host); !loaded) failure.add(std::move(loaded).failure());
  }
  auto load_directory = [&](const std::string& directory) {
    auto names = host.fs().list(directory);
    if (!names) return;
    warn_of_others(directory);
    for (const auto& name : *names) {
      const auto found = plugin_of_file(name);
      if (!found) continue;
      std::string file = (std::filesystem::path(directory) / name).string();
      if (std::find(kinds.begin(), kinds.end(), found->kind) == kinds.end()) {
        registries.others.push_back({found->kind, found->name, file});
        continue;
      }
      if (std::find(path.files.begin(), path.files.end(), file) != path.files.end()) continue;
      if (auto loaded = load_plugin(file, registries, host); !loaded)
        for (const auto& d : loaded.failure().diagnostics()) {
          registries.broken.push_back({file, d});
          if (d.code == "PL007") left_out.push_back({file, d});
        }
    }
  };
  for (const auto& directory : path.directories) {
    if (!host.fs().is_directory(directory)) failure.add(refused(directory, "PL002", "--plugin-path: there is no such directory"));
    load_directory(directory);
  }
  for (const auto& directory : path.environment_directories)
    if (!directory.empty()) load_directory(directory);
  if (!path.installed_directory.empty()) load_directory(path.installed_directory);
  report_left_out(left_out, host);
  if (!failure.empty()) return failure;
  return success();
}

std::string list_text(const Registries& registries, const std::vector<Kind>& kinds) {
  std::string out;
  append_text(out, Kind::frontend, registries.frontends, kinds);
  append_text(out, Kind::decomposition, registries.decompositions, kinds);
  append_text(out, Kind::policy, registries.policies, kinds);
  append_text(out, Kind::target, registries.targets, kinds);
  for (const auto& b : registries.broken) out += cat("not loaded: ", b.file, ": ", b.reason.message, '\n');
  return out;
}

std::string list_json(const Registries& registries, const std::vector<Kind>& kinds) {
  io::Node list = io::Node::list();
  append_json(list, Kind::frontend, registries.frontends, kinds);
  append_json(list, Kind::decomposition, registries.decompositions, kinds);
  append_json(list, Kind::policy, registries.policies, kinds);
  append_json(list, Kind::target, registries.targets, kinds);
  io::Node broken = io::Node::list();
  for (const auto& b : registries.broken)
    broken.push(io::Node::map(
        {{"file", io::Node::string(b.file)}, {"code", io::Node::string(b.reason.code)}, {"reason", io::Node::string(b.reason.message)}}));
  return io::json_pretty(io::Node::map({{"plugins", std::move(list)}, {"broken", std::move(broken)}}));
}

}  // namespace buda::plugin
