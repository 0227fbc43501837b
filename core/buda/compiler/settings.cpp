// SPDX-License-Identifier: Apache-2.0
// Settings from declarations: an option that is declared anew gives the variable's value as its default.
#include "buda/compiler/settings.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/schema/codec.hpp>

#include <utility>

namespace buda::compiler {
namespace {

Settings plugin_settings(const PluginOptions& plugins) {
  Settings out;
  for (const auto& [owner, values] : plugins)
    for (const auto& [name, texts] : values.all()) out[cat(owner, '.', name)] = join(texts, "; ");
  return out;
}

template <class Options>
void add_settings(const std::string& stage, Options options, Settings& out) {
  schema::OptionSet set;
  declare(set, options);
  Options standard;
  schema::OptionSet standard_set;
  declare(standard_set, standard);
  const auto& all = set.options();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const schema::OptionSpec& spec = all[i].spec;
    std::string value = spec.default_text;
    if (value.empty() && spec.type == schema::OptionType::flag && !standard_set.options()[i].spec.default_text.empty()) value = "false";
    if (!value.empty()) out[spec.environment.empty() ? cat(stage, '.', spec.name) : spec.environment] = value;
  }
  for (const auto& family : set.families())
    for (const auto& [key, value] : *family.target) out[cat(stage, '.', family.prefix, key)] = value;
}

}  // namespace

Settings settings_in_effect(const OptimizerOptions& optimizer, const PluginOptions& plugins) {
  Settings out = plugin_settings(plugins);
  add_settings("optimizer", optimizer, out);
  return out;
}

Settings settings_in_effect(const BalancerOptions& balancer, const PluginOptions& plugins) {
  Settings out = plugin_settings(plugins);
  add_settings("balancer", balancer, out);
  return out;
}

Result<BalancerOptions> balancer_options(const Settings& settings, PluginOptions& plugins) {
  BalancerOptions out;
  schema::OptionSet set;
  declare(set, out);
  std::map<std::string, std::string> names;  // of options, by those of their settings
  for (const auto& option : set.options())
    names[option.spec.environment.empty() ? "balancer." + option.spec.name : option.spec.environment] = option.spec.name;
  constexpr std::string_view kOps = "balancer.op.", kQueues = "balancer.queue.", kPolicy = "policy.";
  for (const auto& [name, value] : settings) {
    if (const auto known = names.find(name); known != names.end()) {
      BUDA_TRY(set.assign(known->second, {value}));
    } else if (name.starts_with(kOps)) {
      out.op_overrides[name.substr(kOps.size())] = value;
    } else if (name.starts_with(kQueues)) {
      out.queues[name.substr(kQueues.size())] = value;
    } else if (const std::size_t dot = name.find('.', kPolicy.size()); name.starts_with(kPolicy) && dot != std::string::npos) {
      plugins[name.substr(0, dot)].set(name.substr(dot + 1), value);
    }
  }
  return out;
}

std::string settings_text(const Settings& settings) { return io::json_pretty(schema::Codec<Settings>::write(settings)); }

Result<Settings> read_settings(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(auto bytes, fs.read(path));
  BUDA_ASSIGN(auto top, io::parse_json(bytes.view(), path));
  Settings out;
  schema::Reader reader;
  schema::Codec<Settings>::read(top, out, reader);
  if (reader.failed()) return std::move(reader).failure();
  return out;
}

}  // namespace buda::compiler
