// SPDX-License-Identifier: Apache-2.0
// Files are known by their names, as the tools give them (docs/tools/buda.md); none is read here.
#include "apps/reportify/modules.hpp"

#include <buda/base/text.hpp>
#include <buda/io/folder_product.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace buda::reportify {
namespace {

constexpr std::string_view kGraph = ".graph.json", kReport = ".report.json";

std::string inside(const std::string& folder, std::string_view name) { return folder == "." ? std::string(name) : cat(folder, '/', name); }

std::string without_end(std::string_view name, std::string_view end) { return std::string(name.substr(0, name.size() - end.size())); }

// "m.device" belongs to the model "m".
bool is_part_of_another(const std::string& stem, const std::set<std::string>& stems) {
  for (std::size_t dot = stem.find('.'); dot != std::string::npos; dot = stem.find('.', dot + 1))
    if (stems.contains(stem.substr(0, dot))) return true;
  return false;
}

std::set<std::string> models_in(const std::vector<std::string>& names) {
  std::set<std::string> stems, models;
  for (const std::string& name : names)
    for (const std::string_view end : {kGraph, kReport})
      if (name.ends_with(end) && name.size() > end.size()) stems.insert(without_end(name, end));
  for (const std::string& stem : stems)
    if (!is_part_of_another(stem, stems)) models.insert(stem);
  return models;
}

Result<std::vector<Pass>> dumped_passes(io::FileSystem& fs, const std::string& folder) {
  std::vector<Pass> out;
  if (!fs.is_directory(folder)) return out;
  BUDA_ASSIGN(const auto names, fs.list(folder));
  for (const std::string& name : names)
    if (name.ends_with(kGraph) && name.size() > kGraph.size()) out.push_back({without_end(name, kGraph), inside(folder, name)});
  return out;
}

// What the host runs before, between and behind the parts of the device, in this order: MODEL.before.graph.json and others.
// Those before come before the device's graph.
void add_device_and_host(const std::vector<std::string>& names, const std::string& folder, Module& m) {
  std::map<std::int64_t, std::string> segments;
  constexpr std::string_view kBetween = "between";
  for (const std::string& name : names) {
    const std::string begin = m.name + ".";
    if (!name.starts_with(begin) || !name.ends_with(kGraph) || name.size() <= begin.size() + kGraph.size()) continue;
    const std::string what = without_end(std::string_view(name).substr(begin.size()), kGraph);
    const auto number = what.starts_with(kBetween) ? parse_int(what.substr(kBetween.size())) : std::nullopt;
    if (what == "before") segments[-1] = what;
    if (what == "behind") segments[INT64_MAX] = what;
    if (number && *number >= 0) segments[*number] = what;
  }
  const auto add_segments = [&](auto from, auto to) {
    for (; from != to; ++from)
      m.passes.push_back({cat("host_", from->second), inside(folder, cat(m.name, '.', from->second, kGraph)), true});
  };
  const std::string device = cat(m.name, ".device", kGraph);
  add_segments(segments.begin(), segments.lower_bound(0));
  if (std::binary_search(names.begin(), names.end(), device)) m.passes.push_back({std::string(kPostPlacer), inside(folder, device)});
  add_segments(segments.lower_bound(0), segments.end());
}

Result<std::vector<Module>> modules_in(io::FileSystem& fs, const std::string& folder) {
  BUDA_ASSIGN(const auto names, fs.list(folder));
  const auto existing = [&](std::string_view name) {
    std::string path = inside(folder, name);
    return fs.exists(path) ? path : std::string();
  };
  const std::set<std::string> models = models_in(names);
  std::vector<Module> out;
  for (const std::string& model : models) {
    Module m{.name = model, .folder = folder, .passes = {}, .report = {}, .netlist = {}, .summary = {}, .executions = {}, .accuracy = {}};
    if (auto path = existing(model + std::string(kGraph)); !path.empty()) m.passes.push_back({std::string(kInitialGraph), path});
    // Folders have no model's name in theirs, so they belong to the only one.
    if (models.size() == 1) {
      BUDA_ASSIGN(const auto dumped, dumped_passes(fs, inside(folder, "passes")));
      m.passes.insert(m.passes.end(), dumped.begin(), dumped.end());
      m.summary = existing("perf/summary.json");
      // What was interrupted while it was written lacks a summary, and is not passed over without a word.
      if (m.summary.empty() && !existing(cat("perf/", io::kFileList)).empty()) m.summary = inside(folder, "perf/summary.json");
      m.executions = existing("perf/executions.json");
      m.accuracy = existing("accuracy.json");
    }
    add_device_and_host(names, folder, m);
    m.report = existing(model + std::string(kReport));
    m.netlist = existing(model + ".yaml");
    out.push_back(std::move(m));
  }
  return out;
}

Diagnostic no_reports(const std::string& folder, std::string why) {
  Diagnostic d = input_error("RY001", {folder}, std::move(why));
  d.hint = "'buda compile MODEL --reports DIR' leaves them in DIR";
  return d;
}

}  // namespace

Result<std::vector<Module>> find_modules(io::FileSystem& fs, const std::string& folder) {
  if (!fs.is_directory(folder)) return no_reports(folder, "is not a folder of reports");
  BUDA_ASSIGN(std::vector<Module> out, modules_in(fs, folder));
  BUDA_ASSIGN(const auto names, fs.list(folder));
  for (const std::string& name : names) {
    const std::string path = inside(folder, name);
    if (!fs.is_directory(path)) continue;
    BUDA_ASSIGN(auto more, modules_in(fs, path));
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (out.empty()) return no_reports(folder, "neither the folder nor one in it has a graph or a placement report");
  return out;
}

}  // namespace buda::reportify
