// SPDX-License-Identifier: Apache-2.0
// What the importer of an operator works with: one call in the program, its arguments, and the graph being built.
//
//   Result<Value> import_tanh(Call& n) { return n.tensor(n.result().tanh(n.ref("self"))); }
//
// Arguments are named as the operator's schema names them.
#pragma once

#include "op_table.hpp"
#include "value.hpp"

#include <buda/frontend/axes.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/frontend/unsupported.hpp>
#include <buda/frontend/values.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::torchscript {

using frontend::Dims;

// The graph being built, and what all calls share.
struct ImportState {
  ImportState(const Archive& a, std::string graph_name) : archive(&a), builder(std::move(graph_name)), store(builder.graph(), a.file) {}

  const Archive* archive;
  bool training = false;  // keeps operators in training mode
  ops::Builder builder;
  frontend::ValueStore store;
  frontend::UnsupportedOps unsupported;
  Failure failure;
  std::size_t builder_errors = 0;
};

// Where a call stands: in which part of the model, and where in the code.
struct Place {
  std::string module;  // "layer1.0.conv1"
  std::string file;    // of the code
  std::uint32_t line = 0;

  std::string text() const;  // "code/__torch__.py:12"
};

class Call : public frontend::OpImport {  // wide because it is all that importers of operators see of one
 public:
  // `op` as the code writes it: "torch.add_".
  Call(ImportState& state, const Place& place, std::string op, std::vector<Value> arguments);

  // Brings arguments given by name to their places; the parameters are those of the importer.
  Result<void> bind(const OpImporter& importer, std::vector<std::pair<std::string, Value>> named);
  const OpImporter& importer() const { return *importer_; }
  const std::string& op() const { return op_; }
  const std::string& name() const { return node_; }  // of its node
  bool in_place() const;
  std::size_t count() const { return arguments_.size(); }
  Value& argument(std::size_t i) { return arguments_[i]; }

  // ---- arguments; those that are missing are None

  const Value& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return !(*this)[name].none(); }
  bool is_tensor(std::string_view name) const { return (*this)[name].is<Cell>(); }
  // Tensors, as the graph has them now. A number is a constant of rank 0.
  Ref ref(std::string_view name);
  Ref value_ref(const Value& value);
  Result<graph::ValueType> type(std::string_view name);
  Result<Shape> shape(std::string_view name);
  Result<DType> dtype(std::string_view name);
  Result<Shape> shape_of(Ref value) const;
  Result<std::vector<Ref>> refs(std::string_view name);
  // Numbers; tensors are taken where they are known while importing.
  Result<std::int64_t> integer(std::string_view name);
  Result<std::int64_t> integer_or(std::string_view name, std::int64_t standard);
  Result<double> real_or(std::string_view name, double standard);
  Result<bool> flag_or(std::string_view name, bool standard);
  Result<std::string> text_or(std::string_view name, std::string standard);
  Result<Dims> integers(std::string_view name);
  Result<Dims> integers_or(std::string_view name, Dims standard);
  // As many numbers as asked for; a single one counts for all.
  Result<Dims> sizes_or(std::string_view name, std::size_t count, std::int64_t standard);
  Result<std::int64_t> integer_of(const Value& value, std::string_view what);
  Result<double> real_of(const Value& value, std::string_view what);
  // An axis of a value of this rank; of a scalar 0 and -1 are axes, too.
  Result<std::int64_t> axis_or(std::string_view name, std::int64_t standard, std::size_t rank);
  Result<Tensor> known(std::string_view name);
  const Tensor* known_or_null(const Value& value);

  // ---- results

  ops::Builder& result() override;
  ops::Builder& step(std::string_view suffix) override;
  Value tensor(Ref value);
  Value known_tensor(Tensor tensor);
  Value results(Ref first, std::size_t count);  // a tuple of the results of one node
  // A part of argument 0, or the whole in another shape, that shares its elements.
  Value view(View view);
  Ref cast(Ref value, DType to, std::string_view step_name = "cast");
  Ref number(double value, DType dtype);
  Ref constant(Tensor tensor);

  Diagnostic refuse(std::string reason) const override;

  // Changes a tensor in place.
  Result<void> write(const Cell& cell, Ref value);

  ImportState& state() { return *state_; }
  const Place& place() const { return *place_; }

 private:
  Ref current(TensorCell& cell);
  ops::Builder& named(std::string_view name);

  ImportState* state_;
  const Place* place_;
  std::string op_, node_;
  std::vector<Value> arguments_;
  const OpImporter* importer_ = nullptr;
};

// The reason why a value does not fit an argument: "its dim is 'x', not an integer".
std::string wrong_argument(std::string_view name, const Value& value, std::string_view wanted);

}  // namespace buda::torchscript
