// SPDX-License-Identifier: Apache-2.0
// Reads the options' values and the model, imports it, writes the graph.
#include "apps/importer/run.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/import.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/compiler/replace_parameters.hpp>
#include <buda/compiler/value_ranges.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/process.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <filesystem>
#include <map>
#include <optional>

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

// Ours, "I64", or that of NumPy and PyTorch, "int64".
std::optional<DType> type_named(std::string_view name) {
  static const std::map<std::string_view, DType> kOthers = {
      {"bool", DType::boolean}, {"uint8", DType::u8},  {"int8", DType::i8},       {"uint16", DType::u16},  {"int16", DType::i16},
      {"uint32", DType::u32},   {"int32", DType::i32}, {"uint64", DType::u64},    {"int64", DType::i64},   {"long", DType::i64},
      {"float16", DType::f16},  {"half", DType::f16},  {"bfloat16", DType::bf16}, {"bf16", DType::bf16},   {"float32", DType::f32},
      {"float", DType::f32},    {"fp32", DType::f32},  {"fp16", DType::f16},      {"float64", DType::f64}, {"double", DType::f64}};
  if (auto type = dtype_from_name(name)) return type;
  const auto found = kOthers.find(name);
  return found == kOthers.end() ? std::nullopt : std::optional(found->second);
}

// Without the brackets that Python prints around a shape: "[1, 3]", "(5,)".
std::string_view sizes_in(std::string_view text) {
  text = trim(text);
  const bool enclosed = text.size() >= 2 && ((text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')'));
  if (!enclosed) return text;
  text = trim(text.substr(1, text.size() - 2));
  if (text.ends_with(',')) text.remove_suffix(1);
  return text;
}

// "1,3,224,224", "[1, 3, 224, 224]" or "1,128:I64"; an empty list is the shape of one number.
Result<plugin::InputShape> parse_shape(std::string_view text) {
  plugin::InputShape out;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    const std::string_view name = text.substr(colon + 1);
    out.dtype = type_named(name);
    if (!out.dtype) {
      std::vector<std::string> known;
      for (DType type : all_dtypes()) known.emplace_back(dtype_name(type));
      return usage_error("IP003", cat("option --input-shape: there is no type '", name, "'; there are ", join(known, ", ")));
    }
    text = text.substr(0, colon);
  }
  text = sizes_in(text);
  if (text.empty()) return out;
  for (const std::string_view size : split(text, ',')) {
    const auto n = parse_int(trim(size));
    if (!n || *n < 0) return usage_error("IP003", cat("option --input-shape: '", size, "' is not a size"));
    out.shape.push_back(*n);
  }
  return out;
}

Result<std::map<std::string, plugin::InputShape>> parse_input_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, plugin::InputShape> shapes;
  Failure failure;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    Result<plugin::InputShape> shape =
        equals == std::string::npos || equals == 0
            ? usage_error("IP003", cat("option --input-shape: expected NAME=N,N,... or NAME=N,N,...:TYPE, found '", text, '\''))
            : parse_shape(std::string_view(text).substr(equals + 1));
    if (!shape) {
      Diagnostic& d = shape.failure().diagnostics().front();
      d.hint = "--input-shape takes NAME=SIZES or NAME=SIZES:TYPE, as in x=1,3,224,224 and ids=1,128:I64";
      failure.add(std::move(d));
    } else if (!shapes.emplace(text.substr(0, equals), *shape).second) {
      failure.add(usage_error("IP003", cat("option --input-shape: '", text.substr(0, equals), "' is given twice")));
    }
  }
  if (!failure.empty()) return failure;
  return shapes;
}

// A file of a later stage is no model either; then the stage that reads it helps more than how sure the frontends are, or that it is no
// graph.
Failure name_later_stage(Failure failure, const plugin::ModelSource& source) {
  Diagnostic& first = failure.diagnostics().front();
  const std::string code = first.code;
  for (const std::string_view ending : {".npz", ".npy", ".safetensors"})
    if (code == "IP001" && source.path.ends_with(ending))
      first.hint = cat("it holds tensors, which a run takes: ", io::shell_line({"buda", "run", "IMAGE", "--inputs", source.path}));
  const cli::FileKind kind = cli::file_kind(source.bytes.view().substr(0, cli::kKindBytes));
  if ((code != "IP001" && code != "SC006") || kind <= cli::FileKind::device_graph) return failure;
  using cli::FileKind;
  const cli::InputFile input{source.path,
                             {FileKind::model, FileKind::tflite_model, FileKind::torchscript_model, FileKind::stablehlo_module,
                              FileKind::tensorflow_model, FileKind::tensor_graph}};
  return cli::wrong_kind("importer", input, kind);
}

// One on a line, with what is to be said of it.
Result<void> list_ops(const std::string& frontend, cli::ToolHost& host) {
  const auto given = host.plugin_options.find(cat("frontend.", frontend));
  BUDA_ASSIGN(auto reader, plugin::make(host.plugins, host.plugins.frontends, plugin::Kind::frontend, frontend,
                                        given == host.plugin_options.end() ? schema::OptionValues() : given->second, host));
  std::string text;
  for (const auto& op : reader->operators()) text += cat(op.name, op.notes.empty() ? "" : "  ", op.notes, '\n');
  if (text.empty()) return usage_error("IP006", cat("frontend '", frontend, "' has no list of operators"));
  return host.fs().write(std::string(io::kStdStream), text);
}

bool is_pipe(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return !error && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Result<io::Bytes> read_model(const std::string& path, io::FileSystem& fs) {
  auto bytes = fs.read(path);
  if (!bytes && path != io::kStdStream && fs.is_directory(path))
    bytes.failure().diagnostics().front().hint =
        "of directories, a SavedModel of TensorFlow is a model, with saved_model.pb or saved_model.pbtxt in it";
  return bytes;
}

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) {
  if (!options.list_ops.empty()) return list_ops(options.list_ops, host);
  if (options.model.empty()) return usage_error("CL005", "missing argument MODEL: the model file; - reads standard input");
  BUDA_ASSIGN(auto dims, parse_dims(options.dims));
  BUDA_ASSIGN(auto values, read_values(options.values, host));
  BUDA_ASSIGN(auto shapes, parse_input_shapes(options.input_shapes));
  BUDA_ASSIGN(const auto ranges, compiler::parse_value_ranges(options.value_ranges));
  std::string output = output_path(options);
  if (options.output.empty() && output != io::kStdStream && output == options.model)
    return usage_error("IP004", cat("the graph would overwrite the model '", options.model, "'; give another name with -o"));
  plugin::ModelSource source{compiler::model_file(options.model, host.fs()), {}};
  BUDA_ASSIGN(source.bytes, read_model(source.path, host.fs()));
  auto graph = compiler::import_model(source, options.frontend,
                                      {.name = options.name,
                                       .dims = std::move(dims),
                                       .values = std::move(values),
                                       .input_shapes = std::move(shapes),
                                       .training = options.training},
                                      {host.plugins, host.plugin_options}, host);
  if (!graph) return name_later_stage(std::move(graph).failure(), source);
  BUDA_TRY(compiler::mark_value_ranges(*graph, ranges));
  if (!options.parameters.empty()) {
    BUDA_ASSIGN(const auto given, read_tensors(host.fs(), options.parameters));
    BUDA_ASSIGN(const auto replaced, compiler::replace_parameters(*graph, given, options.parameters));
    host.log(1, cat(replaced, " parameters are those of ", options.parameters));
  }
  host.progress("writing", 0, 0);
  // What a pipe gave is gone, and a graph, which is UTF-8, cannot hold any name: it does not refer to such files.
  if (options.copy_tensors || is_pipe(source.path) || !is_valid_utf8(source.path)) graph::forget_files(*graph);
  return graph::write_graph(host.fs(), *graph, output, host.write_mode);
}

}  // namespace buda::importer
