// SPDX-License-Identifier: Apache-2.0
// Reading of GraphDef and SavedModel, and the choice of a graph and of what it takes and gives.
#include "model.hpp"

#include "contents.hpp"
#include "tensors.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/protobuf.hpp>
#include <buda/tensor/tensor.hpp>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace buda::tensorflow_frontend {
namespace {

// The first error of the text form.
class TextErrors final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) {
      text = message;
      loc = {"", static_cast<std::uint32_t>(line + 1), static_cast<std::uint32_t>(column + 1)};
    }
  }
  void AddWarning(int, int, const std::string&) override {}

  std::string text;
  SourceLoc loc;
};

// Text begins with the name of a field, behind blanks and comments.
bool begins_as_text(std::string_view head) {
  for (std::string_view line : split(head, '\n')) {
    std::string_view text = trim(line);
    if (text.empty() || text.starts_with('#')) continue;
    for (std::string_view field : {"node", "library", "versions", "saved_model_schema_version", "meta_graphs"})
      if (text.starts_with(field)) {
        std::string_view rest = trim(text.substr(field.size()));
        return rest.starts_with('{') || rest.starts_with(':');
      }
    return false;
  }
  return false;
}

// A NodeDef begins with its name and its op: two short texts.
bool begins_as_graph(std::string_view head) {
  io::WireReader nodes(head);
  auto node = nodes.next();
  std::string_view inside;
  if (node && node->number == 1 && node->type == 2) {
    inside = head.substr(node->payload, node->end - node->payload);
  } else {
    // The first node may be longer than what is shown here: behind the tag, its length.
    if (head.size() < 4 || head[0] != '\x0a') return false;
    std::size_t at = 1;
    while (at < head.size() && (static_cast<unsigned char>(head[at]) & 0x80u) != 0) ++at;
    inside = head.substr(std::min(at + 1, head.size()));
  }
  io::WireReader fields(inside);
  auto name = fields.next();
  auto op = name && !fields.at_end() ? fields.next() : name;
  auto is_text = [&](const Result<io::WireField>& f, std::uint32_t number) {
    if (!f || f->number != number || f->type != 2 || f->end == f->payload) return false;
    std::string_view text = inside.substr(f->payload, f->end - f->payload);
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  };
  return is_text(name, 1) && is_text(op, 2);
}

// The version 1 and a MetaGraphDef, which begins with messages; what ONNX has there is a text.
bool begins_as_saved_model(std::string_view head) {
  if (!head.starts_with("\x08\x01\x12") || head.size() < 8) return false;
  std::size_t at = 3;
  while (at < head.size() && at < 13 && (static_cast<unsigned char>(head[at]) & 0x80u) != 0) ++at;
  return at + 1 < head.size() && (head[at + 1] == '\x0a' || head[at + 1] == '\x12');
}

// protobuf names what it found instead; at the end of the text it found nothing.
std::string with_end(std::string text) {
  if (text.ends_with("got: ")) text += "the end of the file";
  return text;
}

template <class M>
Result<void> parse(const Model& model, Root root, M& out) {
  std::string_view bytes = model.bytes.view();
  if (!begins_as_text(bytes.substr(0, 4096))) {
    auto structure = without_contents(model.bytes, root);
    if (!structure) {
      for (auto& d : structure.failure().diagnostics()) d.loc = {model.path};
      return std::move(structure).failure();
    }
    if (!out.ParseFromString(*structure))
      return model.error("GF001", "is not a TensorFlow model: its messages are nested wrongly, or its names are not UTF-8");
    return success();
  }
  if (bytes.size() > std::numeric_limits<int>::max()) return model.error("GF002", "is a text of more than 2 GiB, which is not read");
  TextErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  parser.SetRecursionLimit(100);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (parser.Parse(&stream, &out)) return success();
  Diagnostic d =
      model.error("GF001", cat("is not a TensorFlow model: ", errors.text.empty() ? "its text is not complete" : with_end(errors.text)));
  d.loc.line = errors.loc.line;
  d.loc.column = errors.loc.column;
  return d;
}

Result<void> index_nodes(const Model& model, Body& body, const std::string& where) {
  for (int i = 0; i < body.nodes->size(); ++i)
    if (!body.index.emplace((*body.nodes)[i].name(), i).second)
      return model.error("GF003", cat(where, "has two nodes named '", (*body.nodes)[i].name(), '\''));
  return success();
}

Result<void> index_bodies(Model& model) {
  model.main.nodes = &model.graph->node();
  BUDA_TRY(index_nodes(model, model.main, ""));
  for (const auto& function : model.graph->library().function()) {
    const std::string& name = function.signature().name();
    Body body;
    body.nodes = &function.node_def();
    body.function = &function;
    BUDA_TRY(index_nodes(model, body, cat("function '", name, "' ")));
    for (int i = 0; i < function.signature().input_arg_size(); ++i) body.arguments.emplace(function.signature().input_arg(i).name(), i);
    if (!model.functions.emplace(name, std::move(body)).second) return model.error("GF003", cat("has two functions named '", name, '\''));
  }
  return success();
}

std::vector<std::string> tags_of(const format::MetaGraphDef& graph) {
  return std::vector<std::string>(graph.meta_info_def().tags().begin(), graph.meta_info_def().tags().end());
}

Result<const format::MetaGraphDef*> choose_graph(const Model& model, const format::SavedModel& saved, const std::string& tag) {
  std::vector<std::string> all;
  std::string first_tag;
  for (const auto& graph : saved.meta_graphs()) {
    auto tags = tags_of(graph);
    if (first_tag.empty() && !tags.empty()) first_tag = tags.front();
    if (std::find(tags.begin(), tags.end(), tag) != tags.end()) return &graph;
    all.push_back(join(tags, "+"));
  }
  Diagnostic d = model.error("GF020", cat("has no graph with the tag '", tag, '\''));
  d.hint = first_tag.empty() ? "it has no graph with a tag"
                             : cat("choose one: --set frontend.tensorflow.tag=", first_tag, "; it has: ", join(all, ", "));
  return d;
}

// Signatures that only run something have no inputs that are tensors, and names in double underscores.
Result<std::string> choose_signature(const Model& model, const format::MetaGraphDef& graph, const std::string& wanted) {
  std::vector<std::string> all;
  for (const auto& [name, signature] : graph.signature_def())
    if (!name.starts_with("__")) all.push_back(name);
  std::sort(all.begin(), all.end());
  const std::string standard = "serving_default";
  if (wanted.empty() && all.size() == 1) return all.front();
  const std::string& name = wanted.empty() ? standard : wanted;
  if (graph.signature_def().count(name) != 0) return name;
  Diagnostic d = model.error("GF021", wanted.empty() ? cat("has ", all.size(), " signatures, none of them named ", standard)
                                                     : cat("has no signature '", name, '\''));
  if (all.empty())
    d.hint = "export the model with a signature, or freeze it to a GraphDef";
  else if (auto near = wanted.empty() ? std::nullopt : nearest_word(name, all))
    d.hint = cat("did you mean '", *near, "'?");
  else
    d.hint = cat("choose one: --set frontend.tensorflow.signature=", all.front(), "; it has: ", join(all, ", "));
  return d;
}

std::vector<Terminal> terminals_of(const google::protobuf::Map<std::string, format::TensorInfo>& infos) {
  std::vector<Terminal> out;
  for (const auto& [name, info] : infos) out.push_back({name, info.name(), info.dtype(), info.tensor_shape(), true});
  std::sort(out.begin(), out.end(), [](const Terminal& a, const Terminal& b) { return a.name < b.name; });
  return out;
}

Result<void> read_saved_model(Model& model, const Choices& choices) {
  if (!choices.inputs.empty() || !choices.outputs.empty())
    return usage_error("GF022",
                       "options --set frontend.tensorflow.inputs and outputs are for graphs; a SavedModel's are those of its signature");
  auto saved = std::make_shared<format::SavedModel>();
  BUDA_TRY(parse(model, Root::saved_model, *saved));
  BUDA_ASSIGN(const auto* meta, choose_graph(model, *saved, choices.tag));
  BUDA_ASSIGN(std::string signature, choose_signature(model, *meta, choices.signature));
  model.graph = std::shared_ptr<const format::GraphDef>(saved, &meta->graph_def());
  model.saver = meta->saver_def();
  const auto slash = model.path.rfind('/');
  model.folder = slash == std::string::npos ? "." : slash == 0 ? "/" : model.path.substr(0, slash);
  const auto& chosen = meta->signature_def().at(signature);
  model.inputs = terminals_of(chosen.inputs());
  model.outputs = terminals_of(chosen.outputs());
  return index_bodies(model);
}

// Nodes that are there for training, saving and checking, and give nothing that a model is run for.
bool gives_nothing(const format::NodeDef& node) {
  static const std::set<std::string_view> kOps{
      "Assert",    "Assign", "AssignVariableOp", "Const",      "NoOp",     "Placeholder",    "PlaceholderWithDefault", "Print",
      "RestoreV2", "SaveV2", "VarHandleOp",      "VariableV2", "Variable", "ReadVariableOp", "MergeV2Checkpoints"};
  return kOps.count(node.op()) != 0;
}

// Values that no other node takes.
std::vector<std::string> last_values(const Model& model) {
  std::set<std::string_view> used;
  for (const auto& node : *model.main.nodes)
    for (const auto& input : node.input())
      if (Port port = parse_port(input); !port.control || node.op() != "NoOp") used.insert(port.node);
  std::vector<std::string> out;
  for (const auto& node : *model.main.nodes)
    if (used.count(node.name()) == 0 && !gives_nothing(node)) out.push_back(node.name());
  return out;
}

// The placeholders on which the outputs depend, in the order of the file.
std::vector<std::string> placeholders_behind(const Model& model, const std::vector<std::string>& cut) {
  std::set<std::string_view> seen;
  for (const auto& value : cut) seen.insert(parse_port(value).node);
  std::vector<std::string_view> open;
  for (const auto& output : model.outputs) open.push_back(parse_port(output.value).node);
  while (!open.empty()) {
    std::string_view name = open.back();
    open.pop_back();
    if (!seen.insert(name).second) continue;
    if (const auto* node = model.main.find(name))
      for (const auto& input : node->input())
        if (Port port = parse_port(input); !port.control) open.push_back(port.node);
  }
  std::vector<std::string> out;
  for (const auto& node : *model.main.nodes)
    if (node.op() == "Placeholder" && seen.count(node.name()) != 0 && std::find(cut.begin(), cut.end(), node.name()) == cut.end())
      out.push_back(node.name());
  return out;
}

// What a placeholder, or a node that becomes an input, says of its value.
Terminal input_terminal(const Model& model, const std::string& value) {
  Terminal out{value, value, 0, {}, false};
  out.shape.set_unknown_rank(true);
  const auto* node = model.main.find(parse_port(value).node);
  if (node == nullptr || node->op() != "Placeholder") return out;
  if (auto type = node->attr().find("dtype"); type != node->attr().end()) {
    out.type = type->second.type();
    out.has_type = true;
  }
  if (auto shape = node->attr().find("shape"); shape != node->attr().end() && shape->second.has_shape()) out.shape = shape->second.shape();
  return out;
}

Result<void> read_graph(Model& model, const Choices& choices) {
  auto graph = std::make_shared<format::GraphDef>();
  BUDA_TRY(parse(model, Root::graph, *graph));
  model.graph = graph;
  BUDA_TRY(index_bodies(model));
  for (const auto* list : {&choices.inputs, &choices.outputs})
    for (const auto& value : *list)
      if (model.main.find(parse_port(value).node) == nullptr) {
        std::vector<std::string> names;
        for (const auto& node : *model.main.nodes) names.push_back(node.name());
        Diagnostic d = usage_error("GF022", cat("option --set frontend.tensorflow.", list == &choices.inputs ? "inputs" : "outputs",
                                                ": the graph has no node '", parse_port(value).node, '\''));
        if (auto near = nearest_word(value, names)) d.hint = cat("did you mean '", *near, "'?");
        return d;
      }
  for (const auto& value : choices.outputs.empty() ? last_values(model) : choices.outputs)
    model.outputs.push_back({value, value, 0, {}, false});
  if (model.outputs.empty()) return model.error("GF023", "has no node whose result no other one takes: there is nothing to compute");
  for (const auto& value : choices.inputs) model.inputs.push_back(input_terminal(model, value));
  for (const auto& value : placeholders_behind(model, choices.inputs)) model.inputs.push_back(input_terminal(model, value));
  return success();
}

}  // namespace

Diagnostic Model::error(std::string code, std::string message) const {
  return input_error(std::move(code), {path == io::kStdStream ? "<stdin>" : path}, std::move(message));
}

const format::NodeDef* Body::find(std::string_view name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &(*nodes)[found->second];
}

Port parse_port(std::string_view text) {
  Port out;
  if (text.starts_with('^')) {
    out.node = text.substr(1);
    out.control = true;
    return out;
  }
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    out.node = text;
    return out;
  }
  auto number = parse_int(text.substr(colon + 1));
  std::string_view rest = number ? text.substr(0, colon) : text;
  out.index = number.value_or(0);
  colon = rest.find(':');
  out.node = rest.substr(0, colon);
  if (colon != std::string_view::npos) out.result = rest.substr(colon + 1);
  return out;
}

int certainty(std::string_view head, std::string_view file_name) {
  if (begins_as_text(head)) return 90;
  if (begins_as_saved_model(head)) return 95;
  if (begins_as_graph(head)) return 80;
  std::string name = to_lower(file_name);
  return name.ends_with(".pb") || name.ends_with(".pbtxt") ? 40 : 0;
}

Result<Model> read_model(const plugin::ModelSource& source, const Choices& choices) {
  Model model;
  model.path = source.path;
  model.file = source.path == io::kStdStream ? "<stdin>" : source.path.substr(source.path.rfind('/') + 1);
  model.bytes = source.bytes;
  std::string_view head = source.bytes.view().substr(0, 4096);
  bool saved = begins_as_saved_model(head);
  if (begins_as_text(head)) {
    auto at = head.find_first_not_of(" \t\r\n");
    saved = head.substr(at).starts_with("saved_model") || head.substr(at).starts_with("meta_graphs");
  }
  if (saved) {
    BUDA_TRY(read_saved_model(model, choices));
  } else {
    BUDA_TRY(read_graph(model, choices));
  }
  return model;
}

}  // namespace buda::tensorflow_frontend
