// SPDX-License-Identifier: Apache-2.0
// From a graph to a graph file.
//
// A tensor that a file holds already is referred to there. One exception: when the new tensors are about to replace the very file in which
// old ones lie (a graph written over itself), those old ones move into the new file too.
#include <buda/base/text.hpp>
#include <buda/graph/check/verify.hpp>
#include <buda/graph/file/base64.hpp>
#include <buda/graph/file/file_records.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/file/tensor_series.hpp>
#include <buda/graph/values/fused_body.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/json.hpp>
#include <buda/io/sha256.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <tuple>

namespace buda::graph {
namespace {

// Safetensors keep a text map under this name.
constexpr std::string_view kReservedTensorName = "__metadata__";

// What makes two values the same tensor of the file: the same memory, read in the same way.
using TensorKey = std::tuple<const char*, std::size_t, DType, Shape>;

TensorKey key_of(const Tensor& t) { return {t.memory().data(), t.memory().size(), t.dtype(), t.shape()}; }

struct WrittenTensor {
  std::string name;
  const Value* value = nullptr;
};

// The tensors of a graph without repetitions, named after the first node that has each.
struct TensorTable {
  std::vector<WrittenTensor> tensors;
  std::map<TensorKey, std::string> names;

  explicit TensorTable(const Graph& graph, const std::vector<NodeId>& order) {
    for (NodeId id : order) {
      const Node& n = graph.node(id);
      if (n.value && names.emplace(key_of(n.value->tensor), n.name()).second) tensors.push_back({n.name(), &*n.value});
    }
  }
};

NodeRecord node_record(const Graph& graph, const Node& n, const TensorTable& table) {
  NodeRecord record;
  record.name = n.name();
  record.op = n.op();
  for (const auto& edge : n.inputs())
    record.inputs.push_back({graph.contains(edge.source.node) ? graph.node(edge.source.node).name() : "", edge.source.port, edge.tms, {}});
  for (const auto& type : n.outputs) record.types.push_back({{type.dtype}, type.shape.dims(), {type.format}});
  record.attrs.map = fused_attrs_for_file(n.attrs);
  if (n.value) record.value = table.names.at(key_of(n.value->tensor));
  record.intermediate = {n.precision.intermediate};
  record.accumulate = {n.precision.accumulate};
  record.fidelity = n.precision.fidelity;
  record.tags = n.tags;
  record.origins = n.origins;
  return record;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> names;
  for (NodeId id : ids) names.push_back(graph.node(id).name());
  return names;
}

void write_list(std::string& out, std::string_view key, const std::vector<std::string>& lines) {
  out += cat(",\n  \"", key, "\": [");
  for (std::size_t i = 0; i < lines.size(); ++i) out += cat(i == 0 ? "\n    " : ",\n    ", lines[i]);
  out += "\n  ]";
}

std::string file_text(const Graph& graph, const std::vector<NodeId>& order, const TensorTable& table,
                      const std::vector<std::string>& tensor_lines) {
  auto line = [](const auto& value) { return io::json_line(schema::write(value)); };
  std::string out = cat("{\n  \"schema\": \"", describe(static_cast<const FileRecord*>(nullptr)).format()->text(), '"');
  out += cat(",\n  \"name\": ", line(graph.name), ",\n  \"level\": ", line(graph.level));
  if (!graph.tags.empty()) out += cat(",\n  \"tags\": ", line(graph.tags));
  out += cat(",\n  \"inputs\": ", line(names_of(graph, graph.inputs())), ",\n  \"outputs\": ", line(names_of(graph, graph.outputs())));
  std::vector<std::string> lines;
  lines.reserve(order.size());
  for (NodeId id : order) lines.push_back(line(node_record(graph, graph.node(id), table)));
  write_list(out, "nodes", lines);
  if (!tensor_lines.empty()) write_list(out, "tensors", tensor_lines);
  return out + "\n}\n";
}

TensorRecord tensor_record(const WrittenTensor& t) {
  TensorRecord record;
  record.name = t.name;
  record.dtype = {t.value->tensor.dtype()};
  record.shape = t.value->tensor.shape().dims();
  return record;
}

std::string inline_line(const WrittenTensor& t) {
  std::string line = io::json_line(schema::write(tensor_record(t)));
  line.pop_back();
  // Base64 needs no escaping, and the text may be long.
  return cat(line, ", \"data\": \"", base64_encoded(t.value->tensor.bytes()), "\"}");
}

std::string folder_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

std::string relative(io::FileSystem& fs, const std::string& path, const std::string& folder) {
  std::filesystem::path base = fs.canonical(folder.empty() ? "." : folder);
  return std::filesystem::path(fs.canonical(path)).lexically_relative(base).string();
}

}  // namespace

std::string tensor_file_for(const std::string& graph_path) {
  constexpr std::string_view kEnding = ".json";
  std::string stem = graph_path.ends_with(kEnding) ? graph_path.substr(0, graph_path.size() - kEnding.size()) : graph_path;
  // The graph names the file, and JSON is UTF-8.
  if (const std::size_t name = stem.find_last_of('/') + 1; !is_valid_utf8(std::string_view(stem).substr(name)))
    std::replace_if(
        stem.begin() + static_cast<std::ptrdiff_t>(name), stem.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '_');
  return stem + ".safetensors";
}

std::string graph_text(const Graph& graph) {
  std::vector<NodeId> order = graph.topological_order();
  TensorTable table(graph, order);
  std::vector<std::string> lines;
  for (const auto& t : table.tensors) lines.push_back(inline_line(t));
  return file_text(graph, order, table, lines);
}

namespace {

// With a reference to a smaller tensor nothing would be saved.
constexpr std::size_t kShared = 256;  // bytes

// The shape of a graph's tensor may differ from that in its file.
std::string content_key(const Tensor& t) { return cat(dtype_name(t.dtype()), ' ', io::sha256_hex(t.bytes())); }

// `series`: null where the graph is by itself.
Result<void> write(io::FileSystem& fs, const Graph& graph, const std::string& path, TensorSeries* series, io::WriteMode mode) {
  if (auto findings = verify(graph, OpTypes::optional); !findings.empty()) return Failure(std::move(findings));
  if (path == io::kStdStream) return fs.write(path, graph_text(graph), mode);

  std::vector<NodeId> order = graph.topological_order();
  TensorTable table(graph, order);
  std::string tensor_path = tensor_file_for(path);
  std::string folder = folder_of(path);
  bool any_new = false;
  for (const auto& t : table.tensors) any_new = any_new || !t.value->source;
  std::string replaced = any_new ? fs.canonical(tensor_path) : "";

  NamedTensors fresh;
  std::vector<std::string> lines;
  for (const auto& t : table.tensors) {
    TensorRecord record = tensor_record(t);
    auto source = t.value->source;
    if (!source && series != nullptr) source = series->find(t.value->tensor);
    if (source && (!any_new || fs.canonical(source->path) != replaced)) {
      record.file = relative(fs, source->path, folder);
      if (source->raw) {
        record.offset = source->raw->offset;
        record.file_size = source->raw->file_size;
        record.hex = source->raw->hex;
      } else if (source->name != t.name) {
        record.tensor = source->name;
      }
    } else {
      std::string name = t.name == kReservedTensorName ? cat(t.name, ".value") : t.name;
      record.file = std::filesystem::path(tensor_path).filename().string();
      if (name != t.name) record.tensor = name;
      if (series != nullptr) series->add(t.value->tensor, {tensor_path, name, {}});
      fresh.emplace(std::move(name), t.value->tensor);
    }
    lines.push_back(io::json_line(schema::write(record)));
  }
  std::string text = file_text(graph, order, table, lines);
  if (!fresh.empty()) BUDA_TRY(write_tensors(fs, tensor_path, fresh, mode));
  return fs.write(path, text, mode);
}

}  // namespace

std::optional<TensorSource> TensorSeries::find(const Tensor& tensor) const {
  if (tensor.bytes().size() < kShared) return std::nullopt;
  const auto found = sources_.find(content_key(tensor));
  return found == sources_.end() ? std::nullopt : std::optional(found->second);
}

void TensorSeries::add(const Tensor& tensor, TensorSource source) {
  if (tensor.bytes().size() >= kShared) sources_.emplace(content_key(tensor), std::move(source));
}

Result<void> write_graph(io::FileSystem& fs, const Graph& graph, const std::string& path, io::WriteMode mode) {
  return write(fs, graph, path, nullptr, mode);
}

Result<void> write_graph_of_series(io::FileSystem& fs, const Graph& graph, const std::string& path, TensorSeries& series,
                                   io::WriteMode mode) {
  return write(fs, graph, path, &series, mode);
}

}  // namespace buda::graph
