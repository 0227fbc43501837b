// SPDX-License-Identifier: Apache-2.0
// Look-ups of operations.
#include <buda/ops/table/registry.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/device/border.hpp>
#include <buda/ops/device/fused_body.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/ops/table/families.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace buda::ops {

Result<void> Registry::add(OpDef def) {
  Names& names = defs_[static_cast<std::size_t>(def.level)];
  if (names.contains(def.name))
    return internal_error(cat("the operation '", def.name, "' is defined twice at ", graph::level_name(def.level), " level"));
  if (std::find(families_.begin(), families_.end(), def.family) == families_.end()) families_.push_back(def.family);
  std::string name = def.name;
  names.emplace(std::move(name), std::move(def));
  return success();
}

const OpDef* Registry::find(Level level, std::string_view name) const {
  auto it = at(level).find(name);
  return it == at(level).end() ? nullptr : &it->second;
}

Result<const OpDef*> Registry::require(Level level, std::string_view name) const {
  if (const OpDef* def = find(level, name)) return def;
  Diagnostic d = input_error("OP005", {}, cat("there is no operation '", name, "' at ", graph::level_name(level), " level"));
  if (auto near = nearest_word(name, names(level))) {
    d.hint = cat("did you mean '", *near, "'?");
  } else if (find(level == Level::tensor ? Level::device : Level::tensor, name) != nullptr) {
    d.hint = level == Level::device ? "it is one of tensor level: the optimizer lowers it to device ops" : "it is one of device level";
  }
  return d;
}

std::vector<const OpDef*> Registry::all() const {
  std::vector<const OpDef*> out;
  for (const Names& names : defs_)
    for (const auto& [name, def] : names) out.push_back(&def);
  auto family = [this](const OpDef* d) { return std::find(families_.begin(), families_.end(), d->family) - families_.begin(); };
  std::sort(out.begin(), out.end(), [&](const OpDef* a, const OpDef* b) {
    return std::tuple(a->level, family(a), std::string_view(a->name)) < std::tuple(b->level, family(b), std::string_view(b->name));
  });
  return out;
}

std::vector<std::string> Registry::names(Level level) const {
  std::vector<std::string> out;
  for (const auto& [name, def] : at(level)) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

const Registry& standard_ops() {
  static const Registry registry = [] {
    Registry r;
    for (auto family : kFamilies)
      for (auto& def : family()) {
        // A repetition would be our mistake; a test looks for it.
        if (auto added = r.add(std::move(def)); !added) break;
      }
    for (auto& def : elementwise_device_ops()) static_cast<void>(r.add(std::move(def)));
    for (auto& def : border_ops()) static_cast<void>(r.add(std::move(def)));
    // Made of the ops of all families.
    static_cast<void>(r.add(fused_op_definition()));
    return r;
  }();
  return registry;
}

}  // namespace buda::ops
