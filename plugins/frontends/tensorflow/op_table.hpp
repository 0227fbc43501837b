// SPDX-License-Identifier: Apache-2.0
// Which operators of TensorFlow are read, and by which function.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::tensorflow_frontend {

class NodeImport;

struct OpImporter {
  std::string_view type;
  Result<void> (*import)(NodeImport& node) = nullptr;
  std::string_view op = {};       // for functions that serve several operators: the op of ours that this one is
  std::string_view notes = {};    // for lists of what is read
  std::string_view results = {};  // names of its results where it has several of different kinds, in their order: "values indices"
};

// Null for what is not read.
const OpImporter* find_importer(std::string_view type);
// In the order of their names.
std::vector<const OpImporter*> all_importers();
// Why an operator is not read, and what to do about it.
std::string out_of_scope(std::string_view type);
// Where the results of that name begin among all results of an operator.
std::optional<std::int64_t> first_result(const OpImporter& importer, std::string_view name);

// The families, each in the file of its name.
std::span<const OpImporter> elementwise_ops();
std::span<const OpImporter> linear_ops();
std::span<const OpImporter> convolution_ops();
std::span<const OpImporter> shape_ops();
std::span<const OpImporter> slicing_ops();
std::span<const OpImporter> indexing_ops();
std::span<const OpImporter> reduction_ops();
std::span<const OpImporter> normalization_ops();
std::span<const OpImporter> resizing_ops();
std::span<const OpImporter> quantization_ops();
std::span<const OpImporter> control_ops();
std::span<const OpImporter> list_ops();
std::span<const OpImporter> block_ops();
std::span<const OpImporter> complex_ops();
std::span<const OpImporter> diagonal_ops();
std::span<const OpImporter> segment_ops();

// How an operator that is read for real numbers is read for complex ones; null where it is not.
const OpImporter* complex_importer(std::string_view type);

}  // namespace buda::tensorflow_frontend
