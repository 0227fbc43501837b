// SPDX-License-Identifier: Apache-2.0
// What an operator is defined to be, at an opset: libonnx's definitions up to the newest it knows, and this frontend's own of what is newer
// and of onnxruntime's operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onnx {
class ISchemaRegistry;
class OpSchema;
}  // namespace onnx

namespace buda::onnx_frontend {

// The definition of an operator that holds at an opset (of the default domain); null where there is none.
const ::onnx::OpSchema* definition(std::string_view domain, std::string_view op_type, int opset);
// All operators of the default domain, sorted.
std::vector<std::string> defined_op_types();

// The same definitions, for libonnx's checker.
const ::onnx::ISchemaRegistry& definitions();

}  // namespace buda::onnx_frontend
