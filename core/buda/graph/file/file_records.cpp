// SPDX-License-Identifier: Apache-2.0
// How the lines of a graph file are read, written and described.
#include <buda/graph/file/file_records.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/values/value.hpp>

#include <cmath>

namespace buda::graph {

const schema::EnumNames<Level>& describe_enum(const Level*) {
  static const schema::EnumNames<Level> names = {{Level::tensor, "tensor"}, {Level::device, "device"}};
  return names;
}

const schema::EnumNames<MathFidelity>& describe_enum(const MathFidelity*) {
  static const schema::EnumNames<MathFidelity> names = [] {
    schema::EnumNames<MathFidelity> out;
    for (auto f : {MathFidelity::lofi, MathFidelity::hifi2, MathFidelity::hifi3, MathFidelity::hifi4})
      out.emplace_back(f, fidelity_name(f));
    return out;
  }();
  return names;
}

const schema::Record<TypeRecord>& describe(const TypeRecord*) {
  static const auto record =
      schema::Record<TypeRecord>("the type of a value")
          .required("dtype", &TypeRecord::dtype, "element type, as safetensors spells it")
          .required("shape", &TypeRecord::shape, "sizes along the axes; [] is a scalar; at device level w, z, r and c, padded")
          .optional("format", &TypeRecord::format, "how the device stores it, as netlists spell it");
  return record;
}

const schema::Record<Origin>& describe(const Origin*) {
  static const auto record = schema::Record<Origin>("a node of the user's model that this node stems from")
                                 .required("file", &Origin::file, "name of the model's file, without folders")
                                 .required("node", &Origin::node, "name of the node in the model");
  return record;
}

const schema::Record<NodeRecord>& describe(const NodeRecord*) {
  static const auto record = schema::Record<NodeRecord>("a node")
                                 .required("name", &NodeRecord::name, "unique among all nodes but outputs, or among outputs")
                                 .required("op", &NodeRecord::op, "input, parameter, constant, output, or the name of an operation")
                                 .optional("inputs", &NodeRecord::inputs, "where its inputs come from, in the operation's order")
                                 .optional("types", &NodeRecord::types, "types of its results; may be left out of operations")
                                 .optional("attrs", &NodeRecord::attrs, "attributes of the operation")
                                 .optional("value", &NodeRecord::value, "of a parameter or constant: the name of its tensor in 'tensors'")
                                 .optional("intermediate", &NodeRecord::intermediate, "format of partial results, at device level")
                                 .optional("accumulate", &NodeRecord::accumulate, "format in the destination register, at device level")
                                 .optional("fidelity", &NodeRecord::fidelity, "passes of the multiplier, at device level")
                                 .optional("tags", &NodeRecord::tags, "marks for passes")
                                 .optional("origins", &NodeRecord::origins, "where it comes from in the user's model");
  return record;
}

const schema::Record<TensorRecord>& describe(const TensorRecord*) {
  static const auto record =
      schema::Record<TensorRecord>("a tensor, whose content is one of 'file', 'data' and 'values'")
          .required("name", &TensorRecord::name, "by which nodes refer to it")
          .required("dtype", &TensorRecord::dtype, "element type, as safetensors spells it")
          .required("shape", &TensorRecord::shape, "sizes along the axes")
          .optional("file", &TensorRecord::file,
                    "tensor file (safetensors, npz or npy), or with 'offset' any file; relative to this file's folder")
          .optional("tensor", &TensorRecord::tensor, "its name in that file, where it is another one")
          .optional("offset", &TensorRecord::offset, "where in the file the bare elements begin, in bytes")
          .optional("file_size", &TensorRecord::file_size, "with 'offset': bytes of the file, which show whether it was replaced")
          .optional("hex", &TensorRecord::hex, "with 'offset': the elements' bytes are text there, two hexadecimal digits each")
          .optional("data", &TensorRecord::data, "elements in row-major order, little endian, as base64")
          .optional("values", &TensorRecord::values,
                    "elements in row-major order as numbers, in one flat list; for tensors written by hand");
  return record;
}

const schema::Record<FileRecord>& describe(const FileRecord*) {
  static const auto record =
      schema::Record<FileRecord>("a graph", {"buda.graph", 1})
          .required("name", &FileRecord::name, "of the model")
          .required("level", &FileRecord::level, "tensor: a framework's operations; device: those of a netlist")
          .optional("tags", &FileRecord::tags, "facts about the whole graph")
          .optional("inputs", &FileRecord::inputs, "the model's inputs in its order; left out: in the order of nodes")
          .optional("outputs", &FileRecord::outputs, "the model's outputs in its order; left out: in the order of nodes")
          .required("nodes", &FileRecord::nodes, "all nodes, one to a line")
          .optional("tensors", &FileRecord::tensors, "contents of parameters and constants, one to a line");
  return record;
}

io::Node graph_file_schema() { return schema::json_schema<FileRecord>(); }

}  // namespace buda::graph

namespace buda::schema {

using graph::Attr;
using graph::AttrsRecord;
using graph::Tm;
using graph::TmDim;
using graph::TmKind;

namespace {

std::vector<std::string> dtype_words() {
  std::vector<std::string> words;
  for (DType t : all_dtypes()) words.emplace_back(dtype_name(t));
  return words;
}

void wrong(const io::Node& node, std::string_view expected, Reader& reader) {
  reader.error(io::node_error("SC001", node, cat("expected ", expected, ", found ", node.describe())));
}

io::Node described(io::Node schema, std::string_view text) {
  schema.add("description", io::Node::string(std::string(text)));
  return schema;
}

// ---- manipulations

const EnumNames<TmKind>& tm_names() {
  static const EnumNames<TmKind> names = [] {
    EnumNames<TmKind> out;
    for (auto kind :
         {TmKind::broadcast, TmKind::hslice, TmKind::hstack, TmKind::pad, TmKind::transpose, TmKind::unpad, TmKind::vslice, TmKind::vstack})
      out.emplace_back(kind, graph::tm_name(kind));
    return out;
  }();
  return names;
}

std::optional<TmKind> tm_kind(const io::Node& node, const std::string& word, Reader& reader) {
  std::vector<std::string> words;
  for (const auto& [kind, name] : tm_names()) {
    if (name == word) return kind;
    words.push_back(name);
  }
  detail::unknown_name(node, word, words, reader);
  return std::nullopt;
}

void read_broadcast(const io::Node& node, Tm& out, Reader& reader) {
  if (!node.is_map() || node.size() != 1) return wrong(node, "the axis and the factor of a broadcast, like {\"r\": 4}", reader);
  const std::string& dim = node.keys()[0];
  if (dim != "r" && dim != "c" && dim != "z") return detail::unknown_name(node, dim, {"r", "c", "z"}, reader);
  out = Tm::broadcast(dim == "r" ? TmDim::r : dim == "c" ? TmDim::c : TmDim::z, 1);
  Codec<std::int64_t>::read(node.items()[0], out.factor, reader);
}

void read_border(const io::Node& node, TmKind kind, Tm& out, Reader& reader) {
  bool pad = kind == TmKind::pad;
  if (!node.is_list() || node.size() != (pad ? 3 : 2))
    return wrong(node, pad ? "tile rows, tile columns and value, like [1, 0, 0.0]" : "tile rows and tile columns, like [1, 0]", reader);
  out = pad ? Tm::pad(0, 0, 0) : Tm::unpad(0, 0);
  Codec<std::int64_t>::read(node.items()[0], out.rt, reader);
  Codec<std::int64_t>::read(node.items()[1], out.ct, reader);
  if (pad) Codec<double>::read(node.items()[2], out.value, reader);
}

// ---- attributes

constexpr std::string_view kReal = "real";
constexpr std::string_view kReals = "reals";
constexpr std::string_view kTexts = "texts";

bool is_number(const io::Node& n) { return n.kind() == io::Node::Kind::integer || n.kind() == io::Node::Kind::real; }

// A plain list: integers, numbers or strings. An empty one counts as integers.
void read_attr_list(const io::Node& node, Attr& out, Reader& reader) {
  bool integers = true, numbers = true, texts = node.size() != 0;
  for (const auto& item : node.items()) {
    integers = integers && item.kind() == io::Node::Kind::integer;
    numbers = numbers && is_number(item);
    texts = texts && item.is_string();
  }
  if (integers) {
    Codec<std::vector<std::int64_t>>::read(node, out.emplace<std::vector<std::int64_t>>(), reader);
  } else if (numbers) {
    Codec<std::vector<double>>::read(node, out.emplace<std::vector<double>>(), reader);
  } else if (texts) {
    Codec<std::vector<std::string>>::read(node, out.emplace<std::vector<std::string>>(), reader);
  } else {
    wrong(node, "a list of numbers or a list of strings", reader);
  }
}

// {"real": "nan"}, {"reals": […]}, {"texts": []}: what plain JSON cannot say.
void read_attr_map(const io::Node& node, Attr& out, Reader& reader) {
  if (node.size() == 1 && node.keys()[0] == kReal) {
    Codec<double>::read(node.items()[0], out.emplace<double>(), reader);
  } else if (node.size() == 1 && node.keys()[0] == kReals) {
    Codec<std::vector<double>>::read(node.items()[0], out.emplace<std::vector<double>>(), reader);
  } else if (node.size() == 1 && node.keys()[0] == kTexts) {
    Codec<std::vector<std::string>>::read(node.items()[0], out.emplace<std::vector<std::string>>(), reader);
  } else {
    wrong(node,
          "an attribute: true, false, a number, a string, a list of these, or {\"real\": \"nan\"}, {\"reals\": […]}, {\"texts\": […]}",
          reader);
  }
}

void read_attr(const io::Node& node, Attr& out, Reader& reader) {
  switch (node.kind()) {
    case io::Node::Kind::boolean:
      return Codec<bool>::read(node, out.emplace<bool>(), reader);
    case io::Node::Kind::integer:
      return Codec<std::int64_t>::read(node, out.emplace<std::int64_t>(), reader);
    case io::Node::Kind::real:
      return Codec<double>::read(node, out.emplace<double>(), reader);
    case io::Node::Kind::string:
      return Codec<std::string>::read(node, out.emplace<std::string>(), reader);
    case io::Node::Kind::list:
      return read_attr_list(node, out, reader);
    case io::Node::Kind::map:
      return read_attr_map(node, out, reader);
    case io::Node::Kind::null:
      return wrong(node, "an attribute", reader);
  }
}

template <class T>
io::Node wrapped(std::string_view key, const T& value) {
  return io::Node::map({{std::string(key), Codec<T>::write(value)}});
}

io::Node attr_node(const Attr& attr) {
  if (const auto* v = std::get_if<double>(&attr)) return std::isfinite(*v) ? io::Node::real(*v) : wrapped(kReal, *v);
  if (const auto* v = std::get_if<std::vector<double>>(&attr)) {
    bool plain = !v->empty();
    for (double x : *v) plain = plain && std::isfinite(x);
    return plain ? Codec<std::vector<double>>::write(*v) : wrapped(kReals, *v);
  }
  if (const auto* v = std::get_if<std::vector<std::string>>(&attr))
    return v->empty() ? wrapped(kTexts, *v) : Codec<std::vector<std::string>>::write(*v);
  return std::visit(
      [](const auto& v) -> io::Node {
        using T = std::decay_t<decltype(v)>;
        // A file has fused bodies as texts (fused_attrs_for_file).
        if constexpr (std::is_same_v<T, graph::SharedBody>)
          return {};
        else
          return Codec<T>::write(v);
      },
      attr);
}

}  // namespace

void Codec<graph::DTypeWord>::read(const io::Node& node, graph::DTypeWord& out, Reader& reader) {
  auto word = node.as_string();
  if (!word) return reader.error(std::move(word).failure());
  if (auto dtype = dtype_from_name(*word)) {
    out.value = *dtype;
  } else {
    detail::unknown_name(node, *word, dtype_words(), reader);
  }
}
io::Node Codec<graph::DTypeWord>::write(const graph::DTypeWord& value) { return io::Node::string(std::string(dtype_name(value.value))); }
io::Node Codec<graph::DTypeWord>::json_schema() { return detail::enum_schema(dtype_words()); }

void Codec<graph::FormatWord>::read(const io::Node& node, graph::FormatWord& out, Reader& reader) {
  auto word = node.as_string();
  if (!word) return reader.error(std::move(word).failure());
  auto format = format_from_name(*word);
  if (format) {
    out.value = *format;
    return;
  }
  for (Diagnostic d : format.failure().diagnostics()) {
    d.loc = node.loc();
    reader.error(std::move(d));
  }
}
io::Node Codec<graph::FormatWord>::write(const graph::FormatWord& value) {
  return value.value ? io::Node::string(std::string(format_name(*value.value))) : io::Node::null();
}
io::Node Codec<graph::FormatWord>::json_schema() {
  std::vector<std::string> words;
  for (DataFormat f : netlist_formats()) words.emplace_back(format_name(f));
  return detail::enum_schema(words);
}

void Codec<Tm>::read(const io::Node& node, Tm& out, Reader& reader) {
  if (node.is_string() || (node.is_map() && node.size() == 1)) {
    auto kind = tm_kind(node, node.is_string() ? node.text() : node.keys()[0], reader);
    if (!kind) return;
    if ((*kind == TmKind::transpose) == node.is_string()) {
      if (node.is_string()) {
        out = Tm::transpose();
      } else if (*kind == TmKind::broadcast) {
        read_broadcast(node.items()[0], out, reader);
      } else if (*kind == TmKind::pad || *kind == TmKind::unpad) {
        read_border(node.items()[0], *kind, out, reader);
      } else {
        out = Tm{.kind = *kind};
        Codec<std::int64_t>::read(node.items()[0], out.factor, reader);
      }
      return;
    }
  }
  wrong(node, "a manipulation: \"transpose\", {\"broadcast\": {\"r\": 4}}, {\"hslice\": 2}, {\"pad\": [1, 0, 0.0]}, …", reader);
}

io::Node Codec<Tm>::write(const Tm& value) {
  io::Node argument = io::Node::integer(value.factor);
  switch (value.kind) {
    case TmKind::transpose:
      return io::Node::string(std::string(graph::tm_name(value.kind)));
    case TmKind::broadcast:
      argument = io::Node::map({{std::string(graph::tm_dim_name(value.dim)), std::move(argument)}});
      break;
    case TmKind::pad:
      argument = io::Node::list({io::Node::integer(value.rt), io::Node::integer(value.ct), io::Node::real(value.value)});
      break;
    case TmKind::unpad:
      argument = io::Node::list({io::Node::integer(value.rt), io::Node::integer(value.ct)});
      break;
    default:
      break;
  }
  return io::Node::map({{std::string(graph::tm_name(value.kind)), std::move(argument)}});
}

io::Node Codec<Tm>::json_schema() {
  io::Node transpose = io::Node::map({{"const", io::Node::string("transpose")}});
  io::Node members = io::Node::map();
  for (const auto& [kind, name] : tm_names())
    if (kind != TmKind::transpose) members.add(name, io::Node::map());
  io::Node other = detail::type_schema("object");
  other.add("properties", std::move(members));
  other.add("additionalProperties", io::Node::boolean(false));
  other.add("minProperties", io::Node::integer(1));
  other.add("maxProperties", io::Node::integer(1));
  return io::Node::map({{"anyOf", io::Node::list({std::move(transpose), std::move(other)})}});
}

void Codec<graph::EdgeRecord>::read(const io::Node& node, graph::EdgeRecord& out, Reader& reader) {
  out.loc = node.loc();
  if (node.is_string()) {
    out.from = node.text();
    return;
  }
  if (!node.is_map()) return wrong(node, "an input: the name of a node, or {\"from\": name, \"port\": …, \"tms\": […]}", reader);
  detail::check_keys(node, "an input", {"from", "port", "tms"}, reader);
  if (const io::Node* from = node.find("from")) {
    Codec<std::string>::read(*from, out.from, reader);
  } else {
    detail::missing_key(node, "an input", "from", reader);
  }
  if (const io::Node* port = node.find("port")) Codec<std::uint32_t>::read(*port, out.port, reader);
  if (const io::Node* tms = node.find("tms")) Codec<std::vector<Tm>>::read(*tms, out.tms, reader);
}

io::Node Codec<graph::EdgeRecord>::write(const graph::EdgeRecord& value) {
  io::Node from = io::Node::string(value.from);
  if (value.port == 0 && value.tms.empty()) return from;
  io::Node node = io::Node::map({{"from", std::move(from)}});
  if (value.port != 0) node.add("port", Codec<std::uint32_t>::write(value.port));
  if (!value.tms.empty()) node.add("tms", Codec<std::vector<Tm>>::write(value.tms));
  return node;
}

io::Node Codec<graph::EdgeRecord>::json_schema() {
  io::Node members = io::Node::map(
      {{"from", detail::type_schema("string")}, {"port", detail::integer_schema(0)}, {"tms", Codec<std::vector<Tm>>::json_schema()}});
  io::Node full = detail::type_schema("object");
  full.add("properties", std::move(members));
  full.add("required", io::Node::list({io::Node::string("from")}));
  full.add("additionalProperties", io::Node::boolean(false));
  return io::Node::map({{"anyOf", io::Node::list({detail::type_schema("string"), std::move(full)})}});
}

void Codec<AttrsRecord>::read(const io::Node& node, AttrsRecord& out, Reader& reader) {
  if (!node.is_map()) return wrong(node, "attributes (a map)", reader);
  for (std::size_t i = 0; i < node.size(); ++i) read_attr(node.items()[i], out.map[node.keys()[i]], reader);
}
io::Node Codec<AttrsRecord>::write(const AttrsRecord& value) {
  io::Node node = io::Node::map();
  for (const auto& [name, attr] : value.map) node.add(name, attr_node(attr));
  return node;
}
io::Node Codec<AttrsRecord>::json_schema() {
  return described(detail::type_schema("object"),
                   "true or false, numbers, strings, or lists of them; {\"real\": \"nan\"} where JSON has no number");
}

void Codec<graph::DataView>::read(const io::Node& node, graph::DataView& out, Reader& reader) {
  if (!node.is_string()) return wrong(node, "base64 text", reader);
  out.node = &node;
}
io::Node Codec<graph::DataView>::write(const graph::DataView& value) { return *value.node; }
io::Node Codec<graph::DataView>::json_schema() {
  io::Node node = detail::type_schema("string");
  node.add("contentEncoding", io::Node::string("base64"));
  return node;
}

void Codec<graph::ValuesView>::read(const io::Node& node, graph::ValuesView& out, Reader& reader) {
  if (!node.is_list()) return wrong(node, "a flat list of numbers", reader);
  out.node = &node;
}
io::Node Codec<graph::ValuesView>::write(const graph::ValuesView& value) { return *value.node; }
io::Node Codec<graph::ValuesView>::json_schema() {
  return detail::list_schema(
      io::Node::map({{"type", io::Node::list({io::Node::string("number"), io::Node::string("boolean"), io::Node::string("string")})}}));
}

}  // namespace buda::schema
