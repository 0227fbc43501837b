// SPDX-License-Identifier: Apache-2.0
// Which operators are read, and by which function.
#pragma once

#include <buda/diag/result.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace buda::torchscript {

class Call;
struct Value;

struct OpImporter {
  std::string_view name;        // "conv2d", for torch.conv2d and ops.aten.conv2d
  std::string_view parameters;  // in their order, separated by spaces, as PyTorch's schema names them
  Result<Value> (*import)(Call& call) = nullptr;
  std::string_view op = {};     // for functions that serve several operators: the op of ours that this one is
  std::string_view notes = {};  // for lists of what is read
};

// The note of those that only definitions of other operators use (definitions.hpp).
inline constexpr std::string_view kPartOfOthers = "part of others";

// Null for what is not read. An operator that changes its first argument ("add_") is read by the importer of the other ("add").
const OpImporter* find_importer(std::string_view name);
// In the order of their names.
std::vector<const OpImporter*> all_importers();
// Why an operator is not read.
std::string_view out_of_scope(std::string_view name);

// The families, each in the file of its name.
std::span<const OpImporter> unary_ops();
std::span<const OpImporter> binary_ops();
std::span<const OpImporter> linear_ops();
std::span<const OpImporter> convolution_ops();
std::span<const OpImporter> pooling_ops();
std::span<const OpImporter> normalization_ops();
std::span<const OpImporter> reduction_ops();
std::span<const OpImporter> shape_ops();
std::span<const OpImporter> view_ops();
std::span<const OpImporter> indexing_ops();
std::span<const OpImporter> generator_ops();
std::span<const OpImporter> resizing_ops();
std::span<const OpImporter> recurrent_ops();
std::span<const OpImporter> attention_ops();
std::span<const OpImporter> padding_ops();
std::span<const OpImporter> cell_ops();
std::span<const OpImporter> sliding_ops();
std::span<const OpImporter> spectral_ops();
std::span<const OpImporter> lookup_ops();
std::span<const OpImporter> sampling_ops();
std::span<const OpImporter> deformable_ops();
std::span<const OpImporter> loss_ops();
std::span<const OpImporter> diagonal_ops();

}  // namespace buda::torchscript
