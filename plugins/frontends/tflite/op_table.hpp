// SPDX-License-Identifier: Apache-2.0
// Which operators of the format are read, and by which function.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace buda::tflite_format {
enum class BuiltinOperator : std::int32_t;
}  // namespace buda::tflite_format

namespace buda::tflite_frontend {

class NodeImport;
using Code = tflite_format::BuiltinOperator;

// How an operator treats quantised numbers when integers are computed as the reference does (option arithmetic=exact).
enum class Exactness {
  exact,    // every bit as the reference
  rounded,  // through real numbers: dequantised, computed in fp32, rounded to the result's scale
};

struct OpImporter {
  Code code;
  Result<void> (*import)(NodeImport& node) = nullptr;
  std::string_view op = {};  // for functions that serve several operators: the op of ours that this one is
  Exactness quantized = Exactness::rounded;
  std::string_view notes = {};  // for lists of what is read
};

// Null for what is not read.
const OpImporter* find_importer(std::int32_t code);
// The same of a custom operator, by its name; and all of these names, sorted.
const OpImporter* find_custom_importer(std::string_view name);
std::vector<std::string_view> custom_op_names();
// In the order of their names.
std::vector<const OpImporter*> all_importers();
std::string_view name_of(const OpImporter& importer);
// Why an operator is not read.
std::string_view out_of_scope(std::int32_t code);
// Why a custom operator is not read.
std::string_view custom_out_of_scope(std::string_view name);

// The families, each in the file of its name.
std::span<const OpImporter> elementwise_ops();
std::span<const OpImporter> linear_ops();
std::span<const OpImporter> convolution_ops();
std::span<const OpImporter> pooling_ops();
std::span<const OpImporter> shape_ops();
std::span<const OpImporter> slicing_ops();
std::span<const OpImporter> indexing_ops();
std::span<const OpImporter> reduction_ops();
std::span<const OpImporter> normalization_ops();
std::span<const OpImporter> resizing_ops();
std::span<const OpImporter> quantization_ops();
std::span<const OpImporter> recurrent_ops();
Result<void> import_svdf(NodeImport& node);
std::span<const OpImporter> control_ops();
std::span<const OpImporter> complex_ops();

// How an operator of this code is read when an input holds complex numbers; null where it is not.
const OpImporter* complex_importer(std::int32_t code);

}  // namespace buda::tflite_frontend
