// Importing: choose a frontend, let it read, check what it made, write.
#include "apps/importer/run.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/graph_file.hpp>
#include <buda/graph/refer.hpp>
#include <buda/ops/infer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/guard.hpp>
#include <buda/plugin/registry.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>

namespace buda::importer {
namespace {

using plugin::Frontend;
using plugin::Kind;

// What a frontend may look at to say how sure it is.
constexpr std::size_t kHeadSize = 4096;

std::string place(const std::string& path) { return path == io::kStdStream ? "<stdin>" : path; }

Result<std::map<std::string, std::int64_t>> parse_dims(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> dims;
  Failure failure;
  for (const auto& text : texts) {
    auto equals = text.rfind('=');
    auto value = equals == std::string::npos ? std::nullopt : parse_int(std::string_view(text).substr(equals + 1));
    if (!value || *value < 1 || equals == 0) {
      failure.add(usage_error("IM003", cat("option --dim: expected NAME=N with N at least 1, found '", text, '\'')));
      continue;
    }
    auto [it, added] = dims.emplace(text.substr(0, equals), *value);
    if (!added && it->second != *value)
      failure.add(usage_error("IM003", cat("option --dim: '", it->first, "' is given as ", it->second, " and as ", *value)));
  }
  if (!failure.empty()) return failure;
  return dims;
}

Result<std::map<std::string, Tensor>> read_values(const std::vector<std::string>& texts, Host& host) {
  std::map<std::string, Tensor> values;
  Failure failure;
  for (const auto& text : texts) {
    auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      failure.add(usage_error("IM003", cat("option --value: expected NAME=FILE, found '", text, '\'')));
      continue;
    }
    std::string name = text.substr(0, equals), file = text.substr(equals + 1);
    auto tensors = read_tensors(host.fs(), file);
    if (!tensors) {
      failure.add(std::move(tensors).failure());
    } else if (tensors->size() != 1) {
      failure.add(input_error("IM003", {file}, cat("option --value: a file with one tensor is wanted, this one has ", tensors->size())));
    } else if (!values.emplace(name, std::move(tensors->begin()->second)).second) {
      failure.add(usage_error("IM003", cat("option --value: '", name, "' is given twice")));
    }
  }
  if (!failure.empty()) return failure;
  return values;
}

struct Candidate {
  std::string name;
  int score = 0;
};

// How sure each frontend is, the surest first and equals by name. Those that are asked in vain are no dependency of the product.
std::vector<Candidate> ask_frontends(const plugin::ModelSource& source, cli::ToolHost& host) {
  std::vector<Candidate> out;
  std::string file_name = source.path.substr(source.path.rfind('/') + 1);
  for (const auto& [name, registered] : host.plugins.frontends.all()) {
    auto defaults = schema::complete_options(registered.entry.options, {}, "");
    if (!defaults) continue;  // one that needs options is for those who name it
    const plugin::Guard guard(registered.from, "frontend");
    try {
      auto frontend = guard.call("make", [&, &entry = registered.entry] { return entry.make(*defaults, host); });
      if (!frontend) continue;
      const std::string_view head = source.bytes.view().substr(0, kHeadSize);
      out.push_back({name, plugin::guarded(std::move(*frontend), registered.from)->recognizes(head, file_name)});
    } catch (const plugin::PluginError& e) {
      host.report(warning("PL009", {}, e.what()));  // another one may read it
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  return out;
}

Diagnostic undecided(const plugin::ModelSource& source, const std::vector<Candidate>& candidates, cli::ToolHost& host) {
  std::vector<std::string> best, all;
  for (const auto& c : candidates) {
    if (c.score == candidates.front().score) best.push_back(c.name);
    all.push_back(cat(c.name, ' ', c.score));
  }
  bool none = candidates.empty() || candidates.front().score <= 0;
  const cli::FileKind kind = cli::file_kind(source.bytes.view().substr(0, cli::kKindBytes));
  if (none && kind > cli::FileKind::tensor_graph) return cli::wrong_kind("importer", {source.path, {cli::FileKind::model}}, kind);
  Diagnostic d = none ? input_error("IM001", {place(source.path)}, "is no model that a frontend recognises")
                      : input_error("IM002", {place(source.path)}, cat("is recognised by several frontends alike: ", join(best, ", ")));
  if (candidates.empty())
    d.notes.push_back({{}, "no frontend is installed"});
  else
    d.notes.push_back({{}, cat("how sure the frontends are, from 0 to 100: ", join(all, ", "))});
  for (const auto& broken : host.plugins.broken)
    d.notes.push_back({{broken.file}, cat("this plugin could not be used: ", broken.reason.message)});
  d.hint =
      none ? "name one with --frontend, or give the folder of another with --plugin-path" : cat("choose with --frontend ", best.front());
  return d;
}

Result<std::string> choose_frontend(const Options& options, const plugin::ModelSource& source, cli::ToolHost& host) {
  if (!options.frontend.empty()) return options.frontend;
  auto candidates = ask_frontends(source, host);
  bool decided =
      !candidates.empty() && candidates.front().score > 0 && (candidates.size() == 1 || candidates[1].score < candidates[0].score);
  if (!decided) return undecided(source, candidates, host);
  return candidates.front().name;
}

// A graph that does not hold what it promises would fail two tools later, where nobody knows why.
Result<void> check(graph::Graph& graph, const std::string& frontend, const plugin::ModelSource& source) {
  auto checked = ops::infer_types(graph);
  if (checked) checked = ops::check(graph);
  if (checked) return success();
  for (auto& d : checked.failure().diagnostics()) {
    if (d.loc.file.empty()) d.loc.file = place(source.path);
    d.notes.push_back({{}, cat("found when checking the graph that frontend '", frontend, "' made")});
  }
  return checked;
}

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) {
  BUDA_ASSIGN(auto dims, parse_dims(options.dims));
  BUDA_ASSIGN(auto values, read_values(options.values, host));
  std::string output = output_path(options);
  if (options.output.empty() && output != io::kStdStream && output == options.model)
    return usage_error("IM004", cat("the graph would replace the model '", options.model, "'; give another name with -o"));
  plugin::ModelSource source{options.model, {}};
  BUDA_ASSIGN(source.bytes, host.fs().read(options.model));
  if (source.bytes.empty()) return input_error("IM005", {place(options.model)}, "is empty, where a model was expected");

  BUDA_ASSIGN(std::string name, choose_frontend(options, source, host));
  BUDA_ASSIGN(auto frontend,
              plugin::make(host.plugins, host.plugins.frontends, Kind::frontend, name, host.options_of(Kind::frontend, name), host));
  host.log(1, cat(place(options.model), ": reading with frontend '", name, '\''));
  BUDA_ASSIGN(auto graph, frontend->import(source, {.name = options.name, .dims = std::move(dims), .values = std::move(values)}, host));
  BUDA_TRY(check(graph, name, source));
  host.log(1, cat(graph.name, ": ", graph.size(), " nodes, ", graph.inputs().size(), " inputs, ", graph.outputs().size(), " outputs"));
  if (options.copy_tensors) graph::forget_files(graph);
  return graph::write_graph(host.fs(), graph, output, host.write_mode);
}

}  // namespace buda::importer
