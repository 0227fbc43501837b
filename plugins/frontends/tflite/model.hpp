// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite model on its way to becoming a graph: what was read from the file, and checked.
#pragma once

#include <buda/base/boxed.hpp>
#include <buda/diag/result.hpp>
#include <buda/frontend/quantization.hpp>
#include <buda/io/bytes.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda {
class Host;
}  // namespace buda
namespace buda::plugin {
struct ImportOptions;
struct ModelSource;
}  // namespace buda::plugin
namespace buda::tflite_format {
struct Operator;
}  // namespace buda::tflite_format

namespace buda::tflite_frontend {

// Calls of subgraphs within others.
inline constexpr int kDeepestCalls = 64;

using frontend::Quantization;

// A tensor of the file: a constant, an input, or what an operator computes.
struct TensorInfo {
  std::string name;
  std::string type_name;        // as the format spells it
  std::optional<DType> dtype;   // none: a type that is not supported
  Shape shape;                  // with 1 where the size is open
  std::vector<bool> open_axes;  // the axes whose sizes are open
  std::optional<Quantization> quantization;
  Boxed<Tensor> value;
  bool is_variable = false;  // a state: operators leave in it what the next run begins with
  std::string unreadable;    // why not, of a constant whose elements are not read

  // Do its integers stand for other numbers?
  bool is_quantized() const { return quantization.has_value() && dtype && is_integer(*dtype); }
  bool is_complex() const { return type_name == "COMPLEX64"; }
};

// An operator of the file. It has no name there: it is called after its first result, as tools for this format do.
struct OperatorInfo {
  std::size_t subgraph = 0, index = 0;  // in the file
  std::int32_t code = 0;                // BuiltinOperator
  std::string type;                     // "CONV_2D"; of a custom operator its own name
  bool custom = false;
  int version = 1;
  std::string name;
  std::vector<std::int32_t> inputs, outputs;  // tensors; -1: none
  std::vector<std::size_t> called;            // subgraphs: of IF those of true and false, of WHILE condition and body
  const tflite_format::Operator* record = nullptr;
};

// One is the model (see Entry); operators of control flow name others.
struct Subgraph {
  std::vector<TensorInfo> tensors;
  std::vector<OperatorInfo> operators;
  std::vector<std::int32_t> inputs, outputs;
};

// An input or output of the model: a tensor of its subgraph, and the name by which users know it.
struct Terminal {
  std::int32_t tensor = 0;
  std::string name;
};

// Where the model begins: the subgraph of a signature, or the first one.
struct Entry {
  std::size_t subgraph = 0;
  std::vector<Terminal> inputs, outputs;
};

// What becomes of states.
enum class StateOption {
  passed,   // each is an input and an output, which the next run takes as its input
  initial,  // each run begins as the first one: with zeros, or the value that the file gives
};

// What the user pushes: an input or a state of the model.
struct ModelInput {
  std::size_t tensor = 0;
  std::string name;
  Shape shape;
  Boxed<Tensor> value;  // fixed by the user
};

struct Model {
  std::string path;                 // as given, for messages
  std::string file;                 // without folders, for provenance
  io::Bytes bytes;                  // of the file; records refer to it
  std::vector<Subgraph> subgraphs;  // at least one
  Entry entry;
  std::vector<ModelInput> pushed;

  const Subgraph& main() const { return subgraphs[entry.subgraph]; }
  // The states that operators of the main subgraph have, in the order of their tensors.
  std::vector<std::int32_t> states() const;

  // An error of the file as a whole.
  Diagnostic error(std::string code, std::string message) const;
};

// "node 'fc1' (op type CONV_2D, operator 3, version 1): <reason>": every refusal of an operator has this form.
Diagnostic node_error(const Model& model, const OperatorInfo& op, std::string code, std::string reason);

// Verifies the file's structure, and reads the tensors and operators of its subgraphs. Constants refer to the file's bytes.
Result<Model> read_model(const plugin::ModelSource& source);

// Fills model.entry: the signature that is `wanted`; else the only one, serving_default, or that of the first subgraph; in a file without
// signatures the first subgraph under the names of its tensors. So is it, with a warning, where the file's signature is damaged.
Result<void> choose_entry(Model& model, const std::string& wanted, Host& host);

// Tells what else is in the file for tools to find, and is not read: a line for people.
void log_metadata(const Model& model, Host& host);

// Fills model.pushed. Reports every size and value that was given for no input.
Result<void> resolve_inputs(Model& model, const plugin::ImportOptions& options, StateOption states);

// Is every operator read here, and every value computed before it is used?
Result<void> check_model(const Model& model);

}  // namespace buda::tflite_frontend
