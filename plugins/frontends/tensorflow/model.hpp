// SPDX-License-Identifier: Apache-2.0
// A TensorFlow model on its way to becoming a graph: what was read from its file, and what it takes and gives.
#pragma once

#include <buda/base/boxed.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/model_source.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>
#include <buda/tensor/shape.hpp>

#include <buda_tensorflow.pb.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace buda::tensorflow_frontend {

namespace format = buda_tensorflow;

// What a node's input names: a node (or argument of a function), one of its results, or that it only runs before.
struct Port {
  std::string_view node;
  std::string_view result;  // of a function's node: the name of the result
  std::int64_t index = 0;
  bool control = false;
};
Port parse_port(std::string_view text);

// Nodes that name each other: those of the graph, or of a function.
struct Body {
  const google::protobuf::RepeatedPtrField<format::NodeDef>* nodes = nullptr;
  std::unordered_map<std::string_view, int> index;  // of nodes, by name
  const format::FunctionDef* function = nullptr;
  std::unordered_map<std::string_view, int> arguments;  // of a function, by name

  const format::NodeDef* find(std::string_view name) const;
};

// An input or output of the model: its name, and the value of the graph.
struct Terminal {
  std::string name;   // of a SavedModel the signature's, else the node's
  std::string value;  // "node:0"
  int type = 0;
  format::TensorShapeProto shape;
  bool has_type = false;
};

// What the user pushes.
struct ModelInput {
  std::string name;
  std::string value;
  DType dtype = DType::f32;
  Shape shape;
  Boxed<Tensor> fixed;  // by the user
};

struct Choices {
  std::string tag, signature;
  std::vector<std::string> inputs, outputs;  // values of a GraphDef
};

struct Model {
  std::string path;    // as given, for messages
  std::string file;    // without folders, for provenance
  std::string folder;  // of a SavedModel, else empty
  io::Bytes bytes;     // of the file; contents are parts of it
  std::shared_ptr<const format::GraphDef> graph;
  format::SaverDef saver;
  Body main;
  std::map<std::string, Body, std::less<>> functions;
  std::vector<Terminal> inputs, outputs;
  std::vector<ModelInput> pushed;

  // An error of the file as a whole.
  Diagnostic error(std::string code, std::string message) const;
};

// The file of a GraphDef, in its binary or text form, or saved_model.pb (saved_model.pbtxt) of a SavedModel; and what of it the user chose.
Result<Model> read_model(const plugin::ModelSource& source, const Choices& choices);

// Does a file begin as one of these? 0 to 100.
int certainty(std::string_view head, std::string_view file_name);

// Fills model.pushed. Reports every size and value that was given for no input.
Result<void> resolve_inputs(Model& model, const plugin::ImportOptions& options);

}  // namespace buda::tensorflow_frontend
