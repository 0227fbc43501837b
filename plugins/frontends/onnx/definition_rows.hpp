// SPDX-License-Identifier: Apache-2.0
// Definitions of operators that libonnx does not have, as rows of tables.
#pragma once

#include <onnx/onnx_pb.h>

#include <limits>
#include <vector>

namespace buda::onnx_frontend {

inline constexpr auto kInt = ::onnx::AttributeProto::INT, kInts = ::onnx::AttributeProto::INTS, kFloat = ::onnx::AttributeProto::FLOAT,
                      kFloats = ::onnx::AttributeProto::FLOATS, kText = ::onnx::AttributeProto::STRING;
inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

struct DefinedAttribute {
  const char* name;
  ::onnx::AttributeProto::AttributeType type;
  bool required = false;
};

struct DefinitionRow {
  const char* op_type;
  int since;
  int min_inputs, max_inputs;
  std::vector<DefinedAttribute> attributes = {};
  int max_results = 1;
  bool further_results_optional = false;  // all but the first
  std::vector<int> may_be_empty = {};     // of the inputs that precede the last one needed, those whose names may be empty
};

// Operators of the default domain that onnxruntime has, and ONNX has not, or not in all of these opsets.
std::vector<DefinitionRow> runtime_definitions();
// Operators of onnxruntime's domain.
std::vector<DefinitionRow> contrib_definitions();

}  // namespace buda::onnx_frontend
