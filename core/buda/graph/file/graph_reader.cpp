// SPDX-License-Identifier: Apache-2.0
// From a graph file to a graph.
//
// The file is parsed into records (file_records.hpp), then tensors are found, nodes are made in the order of the file, and at last edges
// are drawn, so that a file written by hand may list its nodes in any order. Everything wrong is collected before anything is given up; the
// verifier's findings come last, when names and tensors are in order.
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/check/verify.hpp>
#include <buda/graph/file/base64.hpp>
#include <buda/graph/file/file_records.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/values/fused_body.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/json.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <filesystem>
#include <set>

namespace buda::graph {
namespace {

// A spelling hint compares the word with every name of the file, so only the first few mistakes get one.
constexpr int kMaxHints = 10;

Diagnostic at(Diagnostic d, const SourceLoc& loc) {
  if (d.loc.file.empty()) d.loc = loc;
  return d;
}

template <class T>
T element(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_from_double(value);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return bfloat16_from_double(value);
  } else {
    return static_cast<T>(value);
  }
}

// The numbers of a tensor written by hand.
template <class T>
Tensor from_values(const io::Node& list, Shape shape, schema::Reader& reader) {
  std::vector<T> elements(list.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const io::Node& item = list.items()[i];
    if constexpr (std::is_same_v<T, Boolean>) {
      bool value = false;
      schema::Codec<bool>::read(item, value, reader);
      elements[i].byte = value ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      schema::Codec<T>::read(item, elements[i], reader);
    } else {
      double value = 0;
      schema::Codec<double>::read(item, value, reader);
      elements[i] = element<T>(value);
    }
  }
  return Tensor(std::move(shape), std::move(elements));
}

class GraphReader {
 public:
  GraphReader(io::FileSystem& fs, const std::string& path) : fs_(fs), path_(path), shown_(path == io::kStdStream ? "<stdin>" : path) {}

  Result<Graph> read(std::string_view text) {
    BUDA_ASSIGN(io::Node top, io::parse_json(text, shown_));
    BUDA_ASSIGN(FileRecord file, schema::read<FileRecord>(top));
    Graph graph(file.name, file.level);
    graph.tags = std::move(file.tags);
    const io::Node* tensors = top.find("tensors");
    for (std::size_t i = 0; i < file.tensors.size(); ++i) add_tensor(file.tensors[i], tensors->items()[i].loc());
    const io::Node& nodes = *top.find("nodes");
    std::vector<NodeId> ids;
    for (std::size_t i = 0; i < file.nodes.size(); ++i) ids.push_back(add_node(graph, file.nodes[i], nodes.items()[i].loc()));
    for (std::size_t i = 0; i < file.nodes.size(); ++i) connect(graph, file.nodes[i], ids[i]);
    if (const io::Node* names = top.find("inputs")) order(graph, *names, NodeKind::input);
    if (const io::Node* names = top.find("outputs")) order(graph, *names, NodeKind::output);
    if (reader_.failed()) return std::move(reader_).failure();
    for (auto& d : verify(graph, OpTypes::optional)) reader_.error(at(std::move(d), {shown_}));
    if (reader_.failed()) return std::move(reader_).failure();
    return graph;
  }

 private:
  void error(std::string code, const SourceLoc& loc, std::string message, std::string node = "", std::string hint = "") {
    Diagnostic d = input_error(std::move(code), loc, std::move(message));
    d.node = std::move(node);
    d.hint = std::move(hint);
    reader_.error(std::move(d));
  }

  std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
    if (hints_given_ >= kMaxHints) return "";
    ++hints_given_;
    auto near = nearest_word(word, names);
    return near ? cat("did you mean '", *near, "'?") : "";
  }

  // ---- tensors

  void add_tensor(const TensorRecord& record, const SourceLoc& loc) {
    if (tensors_.find(record.name) != tensors_.end()) {
      error("GR020", loc, cat("duplicate tensor name '", record.name, "'"));
      return;
    }
    int contents = int{!record.file.empty()} + int{record.data.node != nullptr} + int{record.values.node != nullptr};
    if (contents != 1) {
      error("GR022", loc, cat("the tensor '", record.name, "' must have exactly one of 'file', 'data' and 'values', and has ", contents));
      tensors_.emplace(record.name, std::nullopt);
      return;
    }
    Result<Value> value = !record.file.empty()          ? from_file(record, loc)
                          : record.data.node != nullptr ? from_data(record, loc)
                                                        : from_list(record, loc);
    if (value) {
      tensors_.emplace(record.name, std::move(*value));
    } else {
      tensors_.emplace(record.name, std::nullopt);
      for (auto& d : value.failure().diagnostics()) reader_.error(at(std::move(d), loc));
    }
  }

  Result<Value> from_file(const TensorRecord& record, const SourceLoc& loc) {
    std::filesystem::path folder = path_ == io::kStdStream ? std::filesystem::path() : std::filesystem::path(path_).parent_path();
    std::string file = (folder / record.file).lexically_normal().string();
    if (record.offset || record.file_size) return from_bare_elements(record, file, loc);
    BUDA_ASSIGN(const NamedTensors* found, load(file, loc));
    const std::string& name = record.tensor.empty() ? record.name : record.tensor;
    auto it = found->find(name);
    if (it == found->end()) {
      std::vector<std::string> names;
      for (const auto& [n, t] : *found) names.push_back(n);
      Diagnostic d = input_error("GR023", loc, cat("'", file, "' has no tensor '", name, "'"));
      d.hint = did_you_mean(name, names);
      return d;
    }
    Shape shape(record.shape);
    if (it->second.dtype() != record.dtype.value || shape.volume() != it->second.shape().volume())
      return input_error("GR024", loc,
                         cat("the tensor '", record.name, "' is declared as ", dtype_name(record.dtype.value), ' ', shape.text(),
                             ", but in '", file, "' it is ", it->second.describe()));
    BUDA_ASSIGN(Tensor tensor, it->second.reshaped(std::move(shape)));
    return Value(std::move(tensor), {file, name});
  }

  Result<Value> from_bare_elements(const TensorRecord& record, const std::string& file, const SourceLoc& loc) {
    if (!record.offset || !record.file_size || !record.tensor.empty())
      return input_error("GR022", loc,
                         cat("the tensor '", record.name, "': 'offset' and 'file_size' belong together, and instead of 'tensor'"));
    BUDA_ASSIGN(const io::Bytes* bytes, bare_file(file, loc));
    RawPlace place{*record.offset, *record.file_size, record.hex};
    // A file that was replaced is told of once, not for each of its tensors.
    if (place.file_size != static_cast<std::int64_t>(bytes->size()) && !replaced_.insert(file).second)
      return Failure(std::vector<Diagnostic>{});
    auto tensor = raw_tensor(*bytes, file, place, record.dtype.value, Shape(record.shape));
    if (!tensor) {
      Failure failure = std::move(tensor).failure();
      failure.diagnostics().front().notes.push_back({loc, cat("the tensor '", record.name, "' is declared as a part of that file")});
      return failure;
    }
    return Value(std::move(*tensor), {file, "", place});
  }

  Result<const io::Bytes*> bare_file(const std::string& file, const SourceLoc& loc) {
    auto it = bare_files_.find(file);
    if (it == bare_files_.end()) it = bare_files_.emplace(file, fs_.read(file)).first;
    return once(it->second, loc);
  }

  // The tensors of a file, read once. A file that cannot be read is told of once.
  Result<const NamedTensors*> load(const std::string& file, const SourceLoc& loc) {
    auto it = files_.find(file);
    if (it == files_.end()) it = files_.emplace(file, read_tensors(fs_, file)).first;
    return once(it->second, loc);
  }

  // What was read, or the reason why not, which is handed out to the first who asks.
  template <class T>
  static Result<const T*> once(Result<T>& content, const SourceLoc& loc) {
    if (content) return &*content;
    Failure failure = content.failure();
    if (!failure.empty()) failure.diagnostics().front().notes.push_back({loc, "referenced here"});
    content = Failure(std::vector<Diagnostic>{});
    return failure;
  }

  Result<Value> from_data(const TensorRecord& record, const SourceLoc& loc) {
    auto bytes = base64_decoded(record.data.node->text());
    if (!bytes) return input_error("GR025", record.data.node->loc(), cat("the data of tensor '", record.name, "' is not base64"));
    auto tensor = Tensor::from_bytes(record.dtype.value, Shape(record.shape), io::Bytes(std::move(*bytes)));
    if (!tensor) return input_error("GR024", loc, cat("the tensor '", record.name, "': ", tensor.failure().diagnostics().front().message));
    return Value(std::move(*tensor));
  }

  Result<Value> from_list(const TensorRecord& record, const SourceLoc& loc) {
    Shape shape(record.shape);
    const io::Node& list = *record.values.node;
    if (shape.volume() != static_cast<std::int64_t>(list.size()))
      return input_error("GR024", loc,
                         cat("the tensor '", record.name, "' has ",
                             list.size() == 1 ? "1 value, which does not fill" : cat(list.size(), " values, which do not fill"),
                             " the shape ", shape.text()));
    return Value(visit_dtype(record.dtype.value,
                             [&](auto tag) { return from_values<typename decltype(tag)::type>(list, std::move(shape), reader_); }));
  }

  // ---- nodes

  NodeId add_node(Graph& graph, NodeRecord& record, const SourceLoc& loc) {
    bool output = kind_of_op(record.op) == NodeKind::output;
    NodeId twin = output ? graph.find_output(record.name) : graph.find(record.name);
    if (twin.valid()) {
      Diagnostic d = input_error("GR020", loc, cat("a second ", output ? "output" : "node", " is called '", record.name, "'"));
      d.node = record.name;
      d.notes.push_back({graph.node(twin).loc, "the first one"});
      reader_.error(std::move(d));
      return {};
    }
    if (record.name.empty()) {
      error("GR001", loc, "a node's name must not be empty");
      return {};
    }
    names_.push_back(record.name);
    NodeId id = graph.add(record.name, record.op);
    Node& n = graph.node(id);
    n.loc = loc;
    set_attrs(n, std::move(record.attrs.map));
    n.precision = {record.intermediate.value, record.accumulate.value, record.fidelity};
    n.tags = std::move(record.tags);
    n.origins = std::move(record.origins);
    for (auto& type : record.types) n.outputs.push_back({type.dtype.value, Shape(std::move(type.shape)), type.format.value});
    if (!record.value.empty()) set_value(n, record.value);
    return id;
  }

  void set_attrs(Node& n, AttrMap attrs) {
    if (n.op() != kFusedOp) {
      n.attrs = std::move(attrs);
      return;
    }
    auto read = fused_attrs_from_file(std::move(attrs));
    if (read) {
      n.attrs = std::move(*read);
      return;
    }
    for (const Diagnostic& d : read.failure().diagnostics()) error(d.code, n.loc, cat("node '", n.name(), "': ", d.message), n.name());
  }

  void set_value(Node& n, const std::string& tensor) {
    auto it = tensors_.find(tensor);
    if (it == tensors_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, value] : tensors_) names.push_back(name);
      error("GR021", n.loc, cat("node '", n.name(), "': there is no tensor '", tensor, "'"), n.name(), did_you_mean(tensor, names));
      return;
    }
    if (!it->second) return;  // told of already
    n.value = *it->second;
    if (n.outputs.empty()) n.outputs.push_back({n.value->tensor.dtype(), n.value->tensor.shape(), std::nullopt});
  }

  void connect(Graph& graph, const NodeRecord& record, NodeId id) {
    if (!id.valid()) return;
    std::vector<Edge> edges;
    for (const auto& edge : record.inputs) {
      NodeId source = graph.find(edge.from);
      if (!source.valid())
        error("GR021", edge.loc, cat("node '", record.name, "': there is no node '", edge.from, "' to take an input from"), record.name,
              did_you_mean(edge.from, names_));
      edges.emplace_back(ValueRef(source, edge.port), edge.tms);
    }
    graph.set_inputs(id, std::move(edges));
  }

  void order(Graph& graph, const io::Node& names, NodeKind kind) {
    std::string_view what = kind == NodeKind::input ? kInputOp : kOutputOp;
    std::vector<NodeId> ids;
    for (const auto& name : names.items()) {
      NodeId id = kind == NodeKind::input ? graph.find(name.text()) : graph.find_output(name.text());
      if (!id.valid() || graph.node(id).kind() != kind) {
        error("GR026", name.loc(), cat("there is no ", what, " node '", name.text(), "'"));
        return;
      }
      ids.push_back(id);
    }
    bool same = kind == NodeKind::input ? graph.order_inputs(ids) : graph.order_outputs(ids);
    if (!same) error("GR026", names.loc(), cat("the list '", what, "s' must name every ", what, " node once"));
  }

  io::FileSystem& fs_;
  const std::string& path_;
  std::string shown_;  // in messages
  schema::Reader reader_;
  std::map<std::string, std::optional<Value>> tensors_;
  std::map<std::string, Result<NamedTensors>> files_;
  std::map<std::string, Result<io::Bytes>> bare_files_;
  std::set<std::string> replaced_;
  std::vector<std::string> names_;
  int hints_given_ = 0;
};

}  // namespace

Result<Graph> parse_graph(io::FileSystem& fs, std::string_view text, const std::string& path) { return GraphReader(fs, path).read(text); }

Result<Graph> read_graph(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(io::Bytes bytes, fs.read(path));
  return parse_graph(fs, bytes.view(), path);
}

}  // namespace buda::graph
