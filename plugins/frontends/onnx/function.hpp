// SPDX-License-Identifier: Apache-2.0
// Functions: operators whose meaning is a list of other operators' nodes, defined in the model or by ONNX itself.
#pragma once

#include "model.hpp"

#include <buda/graph/value_type.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace onnx {
class FunctionProto;
}

namespace buda::onnx_frontend {

struct Function {
  std::shared_ptr<const ::onnx::FunctionProto> body;  // with the node's attributes put in, and absent optional inputs taken out
  int opset = 0;                                      // in which the body is written
};

// Is there a function for the operator, in the model or (default domain) in ONNX's definition of that opset?
bool has_function(const Model& model, std::string_view domain, std::string_view op_type, int opset);

// The body for one node. Some of ONNX's depend on the types of the node's inputs; an absent input has none. An error, without a place,
// where there is none for these.
Result<Function> function_of(const Model& model, const ::onnx::NodeProto& node, int opset,
                             const std::vector<std::optional<graph::ValueType>>& inputs);

}  // namespace buda::onnx_frontend
