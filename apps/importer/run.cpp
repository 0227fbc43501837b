// Reads the options' values and the model, imports it, writes the graph.
#include "apps/importer/run.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/import.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/graph_file.hpp>
#include <buda/graph/refer.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

namespace buda::importer {
namespace {

Result<std::map<std::string, std::int64_t>> parse_dims(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> dims;
  Failure failure;
  for (const auto& text : texts) {
    auto equals = text.rfind('=');
    auto value = equals == std::string::npos ? std::nullopt : parse_int(std::string_view(text).substr(equals + 1));
    if (!value || *value < 1 || equals == 0) {
      failure.add(usage_error("IP003", cat("option --dim: expected NAME=N with N at least 1, found '", text, '\'')));
      continue;
    }
    auto [it, added] = dims.emplace(text.substr(0, equals), *value);
    if (!added && it->second != *value)
      failure.add(usage_error("IP003", cat("option --dim: '", it->first, "' is given as ", it->second, " and as ", *value)));
  }
  if (!failure.empty()) return failure;
  return dims;
}

Result<NamedTensors> read_values(const std::vector<std::string>& texts, Host& host) {
  NamedTensors values;
  Failure failure;
  for (const auto& text : texts) {
    auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      failure.add(usage_error("IP003", cat("option --value: expected NAME=FILE, found '", text, '\'')));
      continue;
    }
    std::string name = text.substr(0, equals), file = text.substr(equals + 1);
    auto tensors = read_tensors(host.fs(), file);
    if (!tensors) {
      failure.add(std::move(tensors).failure());
    } else if (tensors->size() != 1) {
      failure.add(input_error("IP003", {file}, cat("option --value: expected a file with one tensor, this one has ", tensors->size())));
    } else if (!values.emplace(name, std::move(tensors->begin()->second)).second) {
      failure.add(usage_error("IP003", cat("option --value: '", name, "' is given twice")));
    }
  }
  if (!failure.empty()) return failure;
  return values;
}

// A file of a later stage is no model either; then the stage that reads it helps more than how sure the frontends are, or that it is no
// graph.
Failure name_later_stage(Failure failure, const plugin::ModelSource& source) {
  const std::string& code = failure.diagnostics().front().code;
  const cli::FileKind kind = cli::file_kind(source.bytes.view().substr(0, cli::kKindBytes));
  if ((code != "IP001" && code != "SC006") || kind <= cli::FileKind::device_graph) return failure;
  return cli::wrong_kind("importer", {source.path, {cli::FileKind::model, cli::FileKind::tflite_model, cli::FileKind::tensor_graph}}, kind);
}

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) {
  BUDA_ASSIGN(auto dims, parse_dims(options.dims));
  BUDA_ASSIGN(auto values, read_values(options.values, host));
  std::string output = output_path(options);
  if (options.output.empty() && output != io::kStdStream && output == options.model)
    return usage_error("IP004", cat("the graph would overwrite the model '", options.model, "'; give another name with -o"));
  plugin::ModelSource source{options.model, {}};
  BUDA_ASSIGN(source.bytes, host.fs().read(options.model));
  auto graph =
      compiler::import_model(source, options.frontend, {.name = options.name, .dims = std::move(dims), .values = std::move(values)},
                             {host.plugins, host.plugin_options}, host);
  if (!graph) return name_later_stage(std::move(graph).failure(), source);
  if (options.copy_tensors) graph::forget_files(*graph);
  return graph::write_graph(host.fs(), *graph, output, host.write_mode);
}

}  // namespace buda::importer
