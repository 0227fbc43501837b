// SPDX-License-Identifier: Apache-2.0
// Choosing a frontend, and checking what it made.
#include <buda/compiler/import.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/mark_fixed_values.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/check_tags.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/guard.hpp>

#include <algorithm>
#include <vector>

namespace buda::compiler {
namespace {

using plugin::Kind;

// What a frontend may look at to say how sure it is.
constexpr std::size_t kHeadSize = 4096;

std::string place_of_model(const plugin::ModelSource& model) { return model.path == io::kStdStream ? "<stdin>" : model.path; }

struct Candidate {
  std::string name;
  int score = 0;
};

// How sure each frontend is, highest score first, ties by name. Frontends that are not chosen are no dependency of the product.
std::vector<Candidate> ask_frontends(const plugin::ModelSource& model, const plugin::Registries& plugins, Host& host) {
  std::vector<Candidate> out;
  std::string file_name = model.path.substr(model.path.rfind('/') + 1);
  for (const auto& [name, registered] : plugins.frontends.all()) {
    auto defaults = schema::complete_options(registered.entry.options, {}, "");
    if (!defaults) continue;  // one that needs options is for those who name it
    const plugin::Guard guard(registered.from, "frontend");
    try {
      auto frontend = guard.call("make", [&, &entry = registered.entry] { return entry.make(*defaults, host); });
      if (!frontend) continue;
      const std::string_view head = model.bytes.view().substr(0, kHeadSize);
      out.push_back({name, plugin::guarded(std::move(*frontend), registered.from)->recognizes(head, file_name)});
    } catch (const plugin::PluginError& e) {
      host.report(warning("PL009", {}, e.what()));  // another one may read it
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  return out;
}

Diagnostic undecided(const plugin::ModelSource& model, const std::vector<Candidate>& candidates, const plugin::Registries& plugins) {
  std::vector<std::string> best, all;
  for (const auto& c : candidates) {
    if (c.score == candidates.front().score) best.push_back(c.name);
    all.push_back(cat(c.name, ' ', c.score));
  }
  bool none = candidates.empty() || candidates.front().score <= 0;
  Diagnostic d =
      none ? input_error("IP001", {place_of_model(model)}, "no frontend recognises this model")
           : input_error("IP002", {place_of_model(model)}, cat("several frontends recognise this model equally well: ", join(best, ", ")));
  if (candidates.empty())
    d.notes.push_back({{}, "no frontend is installed"});
  else
    d.notes.push_back({{}, cat("certainty of each frontend, from 0 to 100: ", join(all, ", "))});
  for (const auto& broken : plugins.broken)
    d.notes.push_back({{broken.file}, cat("this plugin could not be used: ", broken.reason.message)});
  d.hint =
      none ? "name one with --frontend, or give the folder of another with --plugin-path" : cat("choose with --frontend ", best.front());
  return d;
}

Result<std::string> choose_frontend(const plugin::ModelSource& model, const plugin::Registries& plugins, Host& host) {
  auto candidates = ask_frontends(model, plugins, host);
  bool decided =
      !candidates.empty() && candidates.front().score > 0 && (candidates.size() == 1 || candidates[1].score < candidates[0].score);
  if (!decided) return undecided(model, candidates, plugins);
  return candidates.front().name;
}

// A graph that does not hold what it promises would fail two stages later, where nobody knows why.
Result<void> check_imported(graph::Graph& graph, const std::string& frontend, const plugin::ModelSource& model) {
  auto checked = ops::infer_types(graph);
  if (checked) checked = ops::check(graph);
  if (checked)
    if (auto wrong = graph::check_tags(graph); !wrong.empty()) return Failure(std::move(wrong));
  if (checked) return success();
  for (auto& d : checked.failure().diagnostics()) {
    if (d.loc.file.empty()) d.loc.file = place_of_model(model);
    d.notes.push_back({{}, cat("found when checking the graph that frontend '", frontend, "' made")});
  }
  return checked;
}

// What a download leaves that was not the model: a pointer to it, a page that says why not, an archive around it.
Result<void> check_download(const plugin::ModelSource& model) {
  const std::string_view head = model.bytes.view().substr(0, 256);
  const std::string file = place_of_model(model), page = to_lower(trim(head));
  std::string what, hint;
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    what = "is a pointer of Git LFS to the model, not the model";
    hint = "in its repository, 'git lfs pull' fetches the model";
  } else if (page.starts_with("<!doctype html") || page.starts_with("<html")) {
    what = "is a web page, not a model";
    hint = "download the model again; for files of repositories take the link that is called raw or download";
  } else if (head.starts_with("\x1f\x8b") || head.starts_with("BZh") ||
             head.starts_with("\xfd"
                              "7zXZ")) {
    what = "is compressed";
    hint = head.starts_with("\x1f\x8b") ? "gunzip unpacks it" : head.starts_with("BZh") ? "bunzip2 unpacks it" : "unxz unpacks it";
  }
  if (what.empty()) return success();
  Diagnostic d = input_error("IP007", {file}, std::move(what));
  d.hint = std::move(hint);
  return d;
}

}  // namespace

Result<graph::Graph> import_model(const plugin::ModelSource& model, const std::string& frontend, const plugin::ImportOptions& options,
                                  const PluginSet& plugins, Host& host) {
  if (model.bytes.empty()) return input_error("IP005", {place_of_model(model)}, "the file is empty; expected a model");
  std::string name = frontend;
  if (name.empty()) {
    BUDA_TRY(check_download(model));
    BUDA_ASSIGN(name, choose_frontend(model, plugins.registries, host));
  }
  auto given = plugins.options.find(cat("frontend.", name));
  BUDA_ASSIGN(auto reader, plugin::make(plugins.registries, plugins.registries.frontends, Kind::frontend, name,
                                        given == plugins.options.end() ? schema::OptionValues() : given->second, host));
  host.log(1, cat(place_of_model(model), ": reading with frontend '", name, '\''));
  host.progress("reading the model", 0, 0);
  BUDA_ASSIGN(auto graph, reader->import(model, options, host));
  host.progress("checking the graph", 0, 0);
  BUDA_TRY(check_imported(graph, name, model));
  mark_fixed_values(graph, options.values);
  host.log(1, cat(graph.name, ": ", graph.size(), " nodes, ", graph.inputs().size(), " inputs, ", graph.outputs().size(), " outputs"));
  return graph;
}

}  // namespace buda::compiler
