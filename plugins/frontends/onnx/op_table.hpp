// SPDX-License-Identifier: Apache-2.0
// Which operators of ONNX are read, and by which function.
#pragma once

#include <buda/diag/result.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace buda::onnx_frontend {

class NodeImport;

// What an operator does with elements of a NarrowType. Most are not defined for any.
enum class Narrow { refuses, moves, converts };

// ONNX defines an operator anew whenever it changes it, and names each definition by the opset in which it came ("since version").
// `since` is the oldest definition that `import` understands; it understands all later ones up to kNewestOpset. A model that uses an older
// one is converted first (convert.cpp).
struct OpImporter {
  std::string_view op_type;
  int since = 1;
  Result<void> (*import)(NodeImport& node) = nullptr;
  std::string_view op = {};  // for functions that serve several operators: the op of ours that this one is
  Narrow narrow = Narrow::refuses;
  bool takes_sequences = false;  // among its inputs
};

// The opsets that models may have.
inline constexpr int kOldestOpset = 1;
inline constexpr int kNewestOpset = 25;

// Null for what is not read.
const OpImporter* find_importer(std::string_view domain, std::string_view op_type);
// Of the default domain; of onnxruntime's; and of training.
std::vector<std::string_view> imported_op_types();
std::vector<std::string_view> imported_contrib_op_types();
std::vector<std::string_view> imported_training_op_types();
// Why ONNX's operators are not read that never will be; empty for others.
std::string_view out_of_scope(std::string_view domain, std::string_view op_type);

// The families, each in the file of its name.
std::span<const OpImporter> elementwise_ops();
std::span<const OpImporter> linear_ops();
std::span<const OpImporter> shape_ops();
std::span<const OpImporter> normalization_ops();
std::span<const OpImporter> reduction_ops();
std::span<const OpImporter> constant_ops();
std::span<const OpImporter> convolution_ops();
std::span<const OpImporter> pooling_ops();
std::span<const OpImporter> channel_norm_ops();
std::span<const OpImporter> control_ops();
std::span<const OpImporter> resizing_ops();
std::span<const OpImporter> sampling_ops();
std::span<const OpImporter> recurrent_ops();
std::span<const OpImporter> quantization_ops();
std::span<const OpImporter> signal_ops();
std::span<const OpImporter> einsum_ops();
std::span<const OpImporter> activation_ops();
std::span<const OpImporter> logic_ops();
std::span<const OpImporter> indexing_ops();
std::span<const OpImporter> generator_ops();
std::span<const OpImporter> data_dependent_ops();
std::span<const OpImporter> sequence_ops();
std::span<const OpImporter> attention_ops();

// Of the domain of training.
std::span<const OpImporter> training_ops();

// Families of onnxruntime's domain.
std::span<const OpImporter> contrib_elementwise_ops();
std::span<const OpImporter> contrib_linear_ops();
std::span<const OpImporter> contrib_norm_ops();
std::span<const OpImporter> contrib_attention_ops();
std::span<const OpImporter> contrib_grouped_attention_ops();
std::span<const OpImporter> contrib_position_ops();
std::span<const OpImporter> contrib_image_ops();
std::span<const OpImporter> contrib_blocks_ops();
std::span<const OpImporter> contrib_recurrent_ops();
std::span<const OpImporter> contrib_quantization_ops();

}  // namespace buda::onnx_frontend
