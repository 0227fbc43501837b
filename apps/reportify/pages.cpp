// SPDX-License-Identifier: Apache-2.0
// The page's code lies in the folder of data files; its data are made from the report.
#include "apps/reportify/pages.hpp"

#include "apps/reportify/pass_data.hpp"
#include "apps/reportify/placement_data.hpp"
#include "apps/reportify/run_data.hpp"
#include "apps/reportify/script.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/format.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace buda::reportify {
namespace {

using io::Node;

constexpr std::array<std::string_view, 4> kCode = {"index.html", "reportify.css", "reportify.js", "LICENSES.txt"};

// What the page shows instead of data that cannot be read.
Node problem_data(const Failure& failure, Host& host) {
  std::vector<std::string> lines;
  for (Diagnostic d : failure.diagnostics()) {
    lines.push_back(format_text(d, {}, nullptr));
    d.severity = Severity::warning;
    host.report(d);
  }
  return Node::map({{"problem", Node::string(join(lines, "\n"))}});
}

Node shown(Result<Node> data, Host& host) { return data.ok() ? std::move(*data) : problem_data(data.failure(), host); }

Result<Node> read_pass(const Module& module, const Pass& pass, Host& host) {
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), pass.path));
  BUDA_TRY(ops::infer_types(graph));
  if (pass.name != kPostPlacer || module.report.empty()) return pass_data(graph, nullptr);
  BUDA_ASSIGN(const Placement placement, read_placement(module, host.fs()));
  return pass_data(graph, &placement);
}

// That of the device, if it is one that is installed; a path in a report is not followed.
std::optional<device::DeviceDescriptor> installed_device(const std::string& name, Host& host) {
  const auto known = device::known_devices(host);
  if (std::find(known.begin(), known.end(), name) == known.end()) return std::nullopt;
  auto device = device::load_device(host, name);
  return device.ok() ? std::optional(std::move(*device)) : std::nullopt;
}

Result<Node> read_placement_page(const Module& module, Host& host) {
  BUDA_ASSIGN(const Placement placement, read_placement(module, host.fs()));
  const auto device = installed_device(placement.report.device, host);
  // The page of the run says why it cannot be read.
  auto run = module.summary.empty() ? Result<Run>(Run{}) : read_run(module, host.fs());
  const bool has_run = !module.summary.empty() && run.ok();
  return placement_data(placement, {device ? &*device : nullptr, has_run ? &run->summary : nullptr});
}

Result<Node> read_run_page(const Module& module, Host& host) {
  BUDA_ASSIGN(const Run run, read_run(module, host.fs()));
  return run_data(run);
}

std::string run_id(std::size_t module) { return cat(module, "/run"); }
std::string placement_id(std::size_t module) { return cat(module, "/placement"); }
std::string pass_id(std::size_t module, std::size_t pass) { return cat(module, "/pass-", pass); }

Node module_node(const Module& module, std::size_t number, Host& host) {
  Node passes = Node::list();
  std::optional<std::size_t> before;
  for (std::size_t p = 0; p < module.passes.size(); ++p) {
    Node pass = Node::map({{"name", Node::string(module.passes[p].name)}, {"id", Node::string(pass_id(number, p))}});
    if (!module.passes[p].of_host) {
      if (before) pass.add("before", Node::integer(static_cast<std::int64_t>(*before)));
      before = p;
    }
    passes.push(std::move(pass));
  }
  Node out = Node::map({{"name", Node::string(module.name)},
                        {"folder", Node::string(std::filesystem::path(module.folder).filename().string())},
                        {"passes", std::move(passes)}});
  Failure problems;
  if (!module.summary.empty()) out.add("run", Node::string(run_id(number)));
  if (!module.report.empty()) {
    out.add("placement", Node::string(placement_id(number)));
    auto placement = read_placement(module, host.fs());
    if (placement.ok()) {
      out.add("facts", facts_node(total_facts(placement->report)));
      if (placement->older) problems = *placement->older;
    } else {
      problems = placement.failure();
    }
  }
  if (!problems.empty()) out.add("problem", problem_data(problems, host).items().front());
  return out;
}

// A page of data, whose path is that of its id.
Page data_page(const std::string& id, std::function<Node()> data) {
  return {cat("data/", id, ".js"), [id, data = std::move(data)]() -> Result<std::string> { return data_script(id, data()); }};
}

Result<std::vector<Page>> code_pages(Host& host) {
  const std::string folder = host.share_dir + "/reportify";
  std::vector<Page> out;
  for (const std::string_view name : kCode) {
    const std::string path = cat(folder, '/', name);
    if (!host.fs().exists(path)) {
      Diagnostic d = input_error("RY002", {path}, "is missing: the page's code was not built");
      d.hint = "its libraries come from npm: 'make deps' installs npm if there is none, then build again; the build says why it failed";
      return d;
    }
    out.push_back({std::string(name), [path, &host]() -> Result<std::string> {
                     BUDA_ASSIGN(const auto bytes, host.fs().read(path));
                     return std::string(bytes.view());
                   }});
  }
  return out;
}

}  // namespace

Result<std::vector<Page>> pages_of(const std::string& folder, Host& host) {
  BUDA_ASSIGN(const std::vector<Module> modules, find_modules(host.fs(), folder));
  BUDA_ASSIGN(std::vector<Page> out, code_pages(host));
  out.push_back(data_page("modules", [modules, &host] {
    Node list = Node::list();
    for (std::size_t m = 0; m < modules.size(); ++m) list.push(module_node(modules[m], m, host));
    return Node::map({{"modules", std::move(list)}});
  }));
  for (std::size_t m = 0; m < modules.size(); ++m) {
    if (!modules[m].summary.empty())
      out.push_back(data_page(run_id(m), [module = modules[m], &host] { return shown(read_run_page(module, host), host); }));
    if (!modules[m].report.empty())
      out.push_back(data_page(placement_id(m), [module = modules[m], &host] { return shown(read_placement_page(module, host), host); }));
    for (std::size_t p = 0; p < modules[m].passes.size(); ++p)
      out.push_back(
          data_page(pass_id(m, p), [module = modules[m], p, &host] { return shown(read_pass(module, module.passes[p], host), host); }));
  }
  return out;
}

}  // namespace buda::reportify
