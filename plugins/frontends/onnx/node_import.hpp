// SPDX-License-Identifier: Apache-2.0
// What the importer of an operator works with: one ONNX node, its attributes and inputs, and the graph being built.
//
//   Result<void> import_flatten(NodeImport& n) {
//     …
//     n.output(n.result().reshape(n.input(0), {rows, columns}));
//     return success();
//   }
#pragma once

#include "model.hpp"
#include "op_table.hpp"
#include "tensor_reader.hpp"

#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace buda::onnx_frontend {

using frontend::computed_value;
using frontend::graph_name;
using frontend::known_value;
using frontend::NarrowType;
using frontend::Operand;
using frontend::Role;
using frontend::Values;
using frontend::ValueStore;

// Where a node stands: the names that it sees, what goes before its own name, and the operator set in which it is written.
struct Scope {
  Values* values = nullptr;
  std::string prefix;
  int opset = 0;
  int depth = 0;  // of subgraphs and functions around it
};

// The walk over nodes, for operators that have subgraphs.
class BodyImporter {
 public:
  virtual ~BodyImporter() = default;
  // Imports the nodes of a subgraph into `outer`, with its inputs bound to the arguments and `step` before its nodes' names. Its results;
  // those that could not be imported have failed and are reported.
  virtual Result<std::vector<Operand>> import_subgraph(const ::onnx::GraphProto& body, std::vector<Operand> arguments, const Scope& outer,
                                                       const std::string& step) = 0;
};

class NodeImport : public frontend::OpImport {  // wide because it is all that importers of operators see of a node
 public:
  using Ref = graph::ValueRef;
  using Dims = std::vector<std::int64_t>;

  NodeImport(const Model& model, const ::onnx::NodeProto& node, const OpImporter& importer, const Scope& scope, ops::Builder& builder,
             BodyImporter& bodies, Host& host);

  const OpImporter& importer() const { return *importer_; }
  // Of the node, with what stands before it.
  const std::string& name() const { return name_; }
  int opset() const { return scope_->opset; }
  // Are operators in training mode kept as they are?
  bool keeps_training() const { return model_->training; }

  // ---- inputs, which all exist and were imported. An optional input that is absent at the end, or has an empty name, is not there.

  std::size_t input_count() const;
  bool has_input(std::size_t i) const;
  Ref input(std::size_t i);
  // Input 1, to be combined with input 0 by NumPy's broadcasting. Before opset 7 operators had their own: attributes `broadcast` and
  // `axis`, which names the axis of input 0 at which those of input 1 begin.
  Result<Ref> second_operand();
  // A value of another element type.
  Ref cast(Ref value, DType to, std::string_view step_name);
  // The type of an input, without making a node of a known tensor.
  Result<graph::ValueType> type(std::size_t i) const;
  Result<Shape> shape(std::size_t i) const;
  // An input that must be known while importing, because it decides about types. `what` it is, for the message.
  Result<Tensor> known(std::size_t i, std::string_view what) const;
  Result<Dims> known_integers(std::size_t i, std::string_view what) const;
  Result<double> known_number(std::size_t i, std::string_view what) const;
  // The same for a value at hand; `what` it is, for the message.
  Result<Tensor> known(const Operand& value, std::string_view what) const;
  bool is_known(std::size_t i) const;
  // A value that the node names without having it as an input; null where there is none yet.
  Operand named(const std::string& value_name) const;
  // The value itself, to be handed on.
  Operand operand(std::size_t i) const;
  Result<graph::ValueType> type(const Operand& value) const;
  Ref ref(const Operand& value);
  ValueStore& store() const { return values_->store(); }
  // The element type that ONNX gives an input, where it is narrower than the one that it has here; else null.
  const NarrowType* narrow(std::size_t i) const;

  // ---- attributes; their types were checked

  bool has(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  Dims integers(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<float> floats(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  // A tensor, which `name` must be.
  Result<Tensor> tensor(std::string_view name) const;
  Result<Tensor> sparse_tensor(std::string_view name) const;
  // The element type of a tensor attribute where it is narrower than the one that `tensor` gives it, else null.
  const NarrowType* narrow_attribute(std::string_view name) const;

  // The subgraph that `name` must be, and its results for these arguments.
  Result<const ::onnx::GraphProto*> subgraph(std::string_view name) const;
  Result<std::vector<Operand>> import_subgraph(const ::onnx::GraphProto& body, std::vector<Operand> arguments, std::string_view step);

  // An axis of an input of this rank, counted from the end where negative.
  Result<std::int64_t> axis(std::int64_t axis, std::size_t rank) const;
  // The same for several, sorted; a repetition is an error.
  Result<Dims> axes(const Dims& axes, std::size_t rank) const;
  // The shape [product of the sizes before the axis, product of the others].
  Result<Shape> as_matrix(const Shape& shape, std::int64_t axis) const;
  // Axes that older definitions have as an attribute and newer ones as input `i`; nothing where they are absent.
  Result<std::optional<Dims>> axes_argument(std::size_t i) const;

  // ---- results

  // The builder, set to give the next node the name of this ONNX node; or, for a node on the way there, that name and a suffix. Inputs may
  // be fetched before or after.
  ops::Builder& result() override;
  ops::Builder& step(std::string_view suffix) override;

  std::size_t output_count() const;
  // Does someone name this result?
  bool has_output(std::size_t i) const;
  void output(Ref value, std::size_t i = 0);
  void output(Operand value, std::size_t i = 0);
  // The result is a tensor that is known now.
  void output_known(Tensor tensor, std::size_t i = 0, const NarrowType* narrow = nullptr);
  // The result has elements of a narrower type in ONNX.
  void output_narrow(Ref value, const NarrowType* narrow);
  // The result is the input, unchanged.
  void output_input(std::size_t input, std::size_t i = 0);
  // An error if someone uses an optional result.
  Result<void> refuse_outputs_from(std::size_t i, std::string_view why) const;

  // "node 'fc1' (op type Gemm, …): reason".
  Diagnostic refuse(std::string reason) const override;

 private:
  const ::onnx::AttributeProto* find(std::string_view name) const;
  Result<Tensor> read_attribute(std::string_view name, Result<Tensor> read) const;
  const std::string& input_name(std::size_t i) const;
  const std::string& output_name(std::size_t i) const;
  ops::Builder& builder_named(std::string_view name);

  const Model* model_;
  const ::onnx::NodeProto* node_;
  const OpImporter* importer_;
  const Scope* scope_;
  Values* values_;
  ops::Builder* builder_;
  BodyImporter* bodies_;
  Host* host_;
  std::string name_;     // of the ONNX node, with what the scope puts before it
  std::string pending_;  // the name that the builder was told last
};

}  // namespace buda::onnx_frontend
