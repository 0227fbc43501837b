// SPDX-License-Identifier: Apache-2.0
// An ONNX model on its way to becoming a graph: what was read, checked and, where needed, converted to a newer operator set.
#pragma once

#include <buda/base/boxed.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/shape.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace buda::plugin {
struct ImportOptions;
struct ModelSource;
}  // namespace buda::plugin
namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace buda::onnx_frontend {

// What the user pushes; weights that the model also lists among its inputs are none.
struct ModelInput {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  Boxed<Tensor> value;  // fixed by the user
};

struct Model {
  std::string path;                           // as given, for messages
  std::string file;                           // without folders, for provenance
  int opset = 0;                              // of the default domain
  std::shared_ptr<::onnx::ModelProto> proto;  // without initializers
  NamedTensors initializers;
  std::map<std::string, int> narrow_initializers;  // those of an element type of NarrowType: that type
  std::vector<ModelInput> inputs;
  std::map<std::string, io::Bytes> tensor_files;  // of external data, by path
  bool training = false;                          // keeps operators in training mode

  // An error of the file as a whole.
  Diagnostic error(std::string code, std::string message) const;
};

// The domain of ONNX's own operators; "ai.onnx" is another spelling, which reading replaces.
inline constexpr std::string_view kDefaultDomain = "";
// That of the operators that onnxruntime adds to ONNX's ("contrib ops"), which its optimizer writes.
inline constexpr std::string_view kContribDomain = "com.microsoft";
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";
// As it stands in messages: "ai.onnx"; and with its version in this model: "domain ai.onnx, opset 13".
std::string domain_name(std::string_view domain);
std::string domain_text(const Model& model, std::string_view domain);

// Gives every node without a name one, "<op type>_<index in the graph>", and makes all names UTF-8.
void name_nodes(Model& model);

// Brings the nodes of the graph, of its subgraphs and of functions to an order in which producers come first.
void sort_nodes(::onnx::ModelProto& model);

// "node 'fc1' (op type Gemm, domain ai.onnx, opset 13): <reason>": every refusal of a node has this form.
Diagnostic node_error(const Model& model, const ::onnx::NodeProto& node, std::string code, std::string reason);

// Parses a file, reads its initializers and names its nodes. All initializers that cannot be read are reported.
Result<Model> read_model(const plugin::ModelSource& source, Host& host);

// Fills model.inputs, and puts the values of symbolic dimensions in wherever their names stand; an input with a fixed value has its shape.
// Reports every input that has no concrete shape afterwards, and every value that was given for no dimension or input.
Result<void> resolve_inputs(Model& model, const plugin::ImportOptions& options);

// Is every operator known here, every node as its definition in ONNX demands, and every value computed before it is used?
Result<void> check_model(const Model& model);

// The same for the nodes of a function that the model defines, which is written in `opset`.
Result<void> check_function(const Model& model, const ::onnx::FunctionProto& function, int opset);

// Brings the model to the oldest operator set at which every node has a form that this frontend knows; most models are there already
// and stay untouched.
Result<void> convert_model(Model& model, Host& host);

}  // namespace buda::onnx_frontend
