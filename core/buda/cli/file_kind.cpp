// SPDX-License-Identifier: Apache-2.0
// Recognition by magic numbers, schema names and keys; advice from the list of stages.
#include <buda/cli/file_kind.hpp>

#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace buda::cli {
namespace {

// The string that a key of a JSON text has: "buda.graph/1" of `"schema": "buda.graph/1"`.
std::string_view string_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = trim(text.substr(at + key.size()));
  if (!rest.starts_with(':')) return {};
  rest = trim(rest.substr(1));
  if (!rest.starts_with('"')) return {};
  rest.remove_prefix(1);
  return rest.substr(0, rest.find('"'));
}

FileKind json_kind(std::string_view head) {
  const std::string_view schema = string_after(head, "\"schema\"");
  const std::string_view name = schema.substr(0, schema.find('/'));
  if (name == "buda.graph") return string_after(head, "\"level\"") == "device" ? FileKind::device_graph : FileKind::tensor_graph;
  if (name == "buda.host-plan") return FileKind::host_plan;
  if (name == "buda.placement-report") return FileKind::placement_report;
  if (name == "buda.pipes") return FileKind::pipes;
  if (name == "buda.blob") return FileKind::stream_programs;
  if (name == "buda.telemetry") return FileKind::telemetry;
  return FileKind::unknown;
}

// The kind of YAML file that has such a key at its top.
FileKind kind_of_key(std::string_view key) {
  for (const char* of_netlist : {"devices", "queues", "graphs", "programs", "fused_ops"})
    if (key == of_netlist) return FileKind::netlist;
  for (const char* of_programs : {"dram_blob", "global_info_blob"})
    if (key == of_programs) return FileKind::stream_programs;
  auto numbered = [&](std::string_view prefix) {
    return key.starts_with(prefix) && key.size() > prefix.size() &&
           key.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  };
  if (numbered("phase_")) return FileKind::stream_programs;
  return key == "graph_name" || numbered("buffer_") || numbered("pipe_") ? FileKind::pipes : FileKind::unknown;
}

FileKind yaml_kind(std::string_view head) {
  for (const std::string_view line : split(head, '\n')) {
    const auto colon = line.find(':');
    const FileKind kind = kind_of_key(line.substr(0, colon == std::string_view::npos ? 0 : colon));
    if (kind != FileKind::unknown) return kind;
  }
  return FileKind::unknown;
}

// A protobuf whose first field is a small number (ir_version), followed by another field of ONNX's ModelProto.
bool is_onnx(std::string_view head) {
  constexpr std::string_view kNextFields = "\x12\x1a\x22\x28\x32\x3a\x42\x72";
  return head.size() > 3 && head[0] == '\x08' && head[1] > 0 && head[1] < 0x20 && kNextFields.find(head[2]) != std::string_view::npos;
}

// A SavedModel: the version 1 and a MetaGraphDef, whose first field is a message, while ONNX has a text there. Or a GraphDef: a node that
// begins with its name and op; or one of both as text.
bool is_tensorflow(std::string_view head) {
  const auto behind_number = [&](std::size_t at) {
    while (at < head.size() && static_cast<unsigned char>(head[at]) >= 0x80) ++at;
    return at + 1;
  };
  if (head.starts_with("\x08\x01\x12")) {
    const std::size_t inside = behind_number(3);
    return inside < head.size() && (head[inside] == '\x0a' || head[inside] == '\x12');
  }
  const std::size_t name = behind_number(1);
  if (head.starts_with('\x0a') && name + 1 < head.size() && head[name] == '\x0a') {
    const std::size_t op = name + 2 + static_cast<unsigned char>(head[name + 1]);
    if (op + 2 < head.size() && head[op] == '\x12' && head[op + 2] > ' ') return true;
  }
  const std::string_view text = trim(head);
  for (const std::string_view field : {"node", "saved_model_schema_version:", "meta_graphs"})
    if (text.starts_with(field)) return field.ends_with(':') || trim(text.substr(field.size())).starts_with('{');
  return false;
}

// A zip file whose first member is one that PyTorch writes first: an archive of torch.jit.save.
bool is_torchscript(std::string_view head) {
  constexpr std::size_t kNameAt = 30, kNameLengthAt = 26;
  if (!head.starts_with("PK\x03\x04") || head.size() < kNameAt) return false;
  const std::string_view name = head.substr(kNameAt, static_cast<unsigned char>(head[kNameLengthAt]));
  return name.ends_with("/data.pkl") || name.ends_with("/data/0") || name.ends_with("/version");
}

// A FlatBuffer with the identifier of TensorFlow Lite behind the offset of its root.
bool is_tflite(std::string_view head) {
  constexpr std::size_t kIdentifierAt = 4;
  return head.size() > kIdentifierAt && head.substr(kIdentifierAt).starts_with("TFL3");
}

// MLIR's bytecode, or text that begins as a module or a function, perhaps behind comments and aliases.
bool is_stablehlo(std::string_view head) {
  if (head.starts_with("ML\xefR")) return true;
  for (const std::string_view line : split(head, '\n')) {
    const std::string_view text = trim(line);
    if (text.empty() || text.starts_with("//") || text.starts_with('#')) continue;
    return text.starts_with("func.func") || text.starts_with("\"builtin.module\"") || text.starts_with("module {") ||
           text.starts_with("module @") || text.starts_with("module attributes");
  }
  return false;
}

bool is_tar(std::string_view head) {
  constexpr std::size_t kMagicAt = 257;
  return head.size() > kMagicAt && head.substr(kMagicAt).starts_with("ustar");
}

std::string_view kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::unknown:
      break;
    case FileKind::model:
      return "an ONNX model";
    case FileKind::tflite_model:
      return "a TensorFlow Lite model";
    case FileKind::torchscript_model:
      return "a TorchScript archive";
    case FileKind::stablehlo_module:
      return "a StableHLO module";
    case FileKind::tensorflow_model:
      return "a TensorFlow model";
    case FileKind::tensor_graph:
      return "a graph";
    case FileKind::device_graph:
      return "a graph at device level";
    case FileKind::netlist:
      return "a netlist";
    case FileKind::host_plan:
      return "a host plan";
    case FileKind::placement_report:
      return "a placement report";
    case FileKind::pipes:
      return "a file of pipes";
    case FileKind::stream_programs:
      return "a file of stream programs";
    case FileKind::image:
      return "an image";
    case FileKind::telemetry:
      return "telemetry of a run";
  }
  return "a file of another kind";
}

// A tool, what it makes, how that is called after the model, and, where it is a folder, which file in it the next tool reads.
struct Stage {
  FileKind product;
  std::string_view tool, ending, inside;
};
constexpr Stage kStages[] = {
    {FileKind::tensor_graph, "importer", ".graph.json", ""},
    {FileKind::device_graph, "optimizer", ".device.graph.json", ""},
    {FileKind::netlist, "balancer", ".yaml", ""},
    {FileKind::pipes, "netlist2pipe", ".pipes", "/temporal_epoch_0/overlay/pipegen.yaml"},
    {FileKind::stream_programs, "pipegen", ".blob.json", ""},
};

// The commands that make a file of kind `wanted` of one of an earlier kind.
std::vector<std::string> commands(const std::string& path, FileKind found, FileKind wanted) {
  const std::string model = model_name(path), image = model + ".tti";
  if (wanted == FileKind::image && found <= FileKind::tensor_graph) return {io::shell_line({"buda", "compile", path, "-o", image})};
  // Their names do not tell the netlist's.
  if (wanted == FileKind::image && found >= FileKind::pipes)
    return {"tti-pack --netlist NETLIST --build DIR -o IMAGE, where DIR is the folder that netlist2pipe wrote"};
  std::vector<std::string> out;
  std::string input = path;
  for (const Stage& stage : kStages) {
    const bool needed = wanted == FileKind::image ? stage.product <= FileKind::netlist : stage.product <= wanted;
    if (stage.product <= found || !needed) continue;
    const std::string output = cat(model, stage.ending);
    out.push_back(io::shell_line({std::string(stage.tool), input, "-o", output}));
    input = cat(output, stage.inside);
  }
  if (wanted == FileKind::image) out.push_back(io::shell_line({"tti-pack", "--netlist", input, "-o", image}));
  return out;
}

// The command that goes on from a file.
std::string next_command(const std::string& path, FileKind kind) {
  if (kind == FileKind::image) return io::shell_line({"runner", path});
  if (kind == FileKind::stream_programs) return commands(path, kind, FileKind::image).front();
  const Stage* next = std::find_if(std::begin(kStages), std::end(kStages), [&](const Stage& s) { return s.product > kind; });
  return commands(path, kind, next->product).front();
}

// Telemetry is no stage of a compilation: a run writes it, and one tool reads it.
std::string advice_on_telemetry(const InputFile& input, FileKind found) {
  if (found == FileKind::telemetry) return cat("it is shown by: ", io::shell_line({"tt-smi", input.path}));
  const std::string image = found == FileKind::image ? io::shell_line({input.path}) : "IMAGE";
  return cat("it is written while an image runs: runner ", image, " --inputs FILE --telemetry telemetry.json");
}

// "an image, a netlist or a graph"
std::string alternatives(std::vector<std::string> names) {
  const std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : cat(join(names, ", "), " or ", last);
}

std::string advice(const InputFile& input, FileKind found) {
  const FileKind wanted = input.kinds.front();
  if (wanted == FileKind::host_plan) return "the balancer writes the host plan next to the netlist, with the extension .plan.json";
  if (wanted == FileKind::placement_report)
    return "the balancer writes the placement report next to the netlist, with the extension .report.json";
  if (wanted == FileKind::telemetry || found == FileKind::telemetry) return advice_on_telemetry(input, found);
  if (found == FileKind::host_plan || found == FileKind::placement_report)
    return wanted < FileKind::netlist ? "it goes with the netlist next to it, the input of a later stage: netlist2pipe NETLIST -o DIR"
                                      : "give the netlist, which the balancer writes next to it";
  if (found == FileKind::image && wanted == FileKind::netlist)
    return cat("this takes its netlist out, into the folder ", cli::model_name(input.path),
               ".image: ", io::shell_line({"tti-pack", "extract", input.path}));
  if (found == FileKind::device_graph && wanted == FileKind::tensor_graph)
    return cat("the optimizer has made it from a graph at tensor level, which this tool reads: ", cli::model_name(input.path),
               ".graph.json, or what the importer writes");
  if (found > wanted) return cat("it is the input of a later stage: ", next_command(input.path, found));
  return cat("first run: ", join(commands(input.path, found, wanted), " && "));
}

bool is_graph(FileKind kind) { return kind == FileKind::tensor_graph || kind == FileKind::device_graph; }

// "an image, a netlist or a graph": of two levels the first says enough, but that a graph has the other level must be said.
std::string wanted_names(const std::vector<FileKind>& kinds, FileKind found) {
  std::vector<std::string> wanted;
  bool graph_named = false;
  for (FileKind kind : kinds) {
    if (!(is_graph(kind) && graph_named))
      wanted.push_back(kind == FileKind::tensor_graph && found == FileKind::device_graph ? "a graph at tensor level"
                                                                                         : std::string(kind_name(kind)));
    graph_named = graph_named || is_graph(kind);
  }
  return alternatives(std::move(wanted));
}

// Files of the folder that the tool reads.
std::vector<std::string> readable_in(const InputFile& input, io::FileSystem& fs) {
  constexpr std::size_t kMaxFiles = 64;
  const auto names = fs.list(input.path);
  std::vector<std::string> out;
  for (std::size_t i = 0; names && i < std::min(names->size(), kMaxFiles); ++i) {
    std::string path = cat(input.path, input.path.ends_with('/') ? "" : "/", (*names)[i]);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;  // a pipe would have to be waited for
    const auto bytes = fs.read(path);
    const FileKind found = bytes ? file_kind(bytes->view().substr(0, kKindBytes)) : FileKind::unknown;
    if (std::find(input.kinds.begin(), input.kinds.end(), found) != input.kinds.end()) out.push_back(std::move(path));
  }
  return out;
}

// Pipes of all epochs are in one.
bool may_be_directory(const InputFile& input) {
  return std::find(input.kinds.begin(), input.kinds.end(), FileKind::pipes) != input.kinds.end();
}

Diagnostic directory_for_input(std::string_view tool, const InputFile& input, io::FileSystem& fs) {
  Diagnostic d = input_error("CL009", {input.path}, cat("is a directory; ", tool, " reads ", wanted_names(input.kinds, FileKind::unknown)));
  constexpr std::size_t kMaxNamed = 4;
  auto there = readable_in(input, fs);
  if (there.size() > kMaxNamed) there.resize(kMaxNamed);
  if (!there.empty()) d.hint = cat("did you mean ", alternatives(std::move(there)), '?');
  return d;
}

}  // namespace

FileKind file_kind(std::string_view head) {
  if (is_tar(head)) return FileKind::image;
  if (is_tensorflow(head)) return FileKind::tensorflow_model;
  if (is_onnx(head)) return FileKind::model;
  if (is_tflite(head)) return FileKind::tflite_model;
  if (is_torchscript(head)) return FileKind::torchscript_model;
  if (is_stablehlo(head)) return FileKind::stablehlo_module;
  if (head.find('\0') != std::string_view::npos) return FileKind::unknown;
  return trim(head).starts_with('{') ? json_kind(head) : yaml_kind(head);
}

Diagnostic wrong_kind(std::string_view tool, const InputFile& input, FileKind found) {
  Diagnostic d = input_error("CL009", {input.path == io::kStdStream ? "<stdin>" : input.path, 0, 0},
                             cat("is ", kind_name(found), "; ", tool, " reads ", wanted_names(input.kinds, found)));
  d.hint = advice(input, found);
  return d;
}

Result<void> check_inputs(std::string_view tool, const std::vector<InputFile>& inputs, io::FileSystem& fs) {
  Failure failure;
  for (const InputFile& input : inputs) {
    if (!input.path.empty() && input.path != io::kStdStream && fs.is_directory(input.path)) {
      if (!may_be_directory(input)) failure.add(directory_for_input(tool, input, fs));
      continue;
    }
    const bool there = input.path == io::kStdStream || (!input.path.empty() && fs.exists(input.path));
    if (!there) continue;
    const auto bytes = fs.read(input.path);
    const FileKind found = bytes ? file_kind(bytes->view().substr(0, kKindBytes)) : FileKind::unknown;
    if (found != FileKind::unknown && std::find(input.kinds.begin(), input.kinds.end(), found) == input.kinds.end())
      failure.add(wrong_kind(tool, input, found));
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::cli
