// SPDX-License-Identifier: Apache-2.0
// Which operations are read, and by which function.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace buda::stablehlo {

class OpCall;

// How an operation treats values of other shapes or types than its own rule is about.
enum class Scope : std::uint8_t {
  whole,        // only as it is
  parts,        // of complex numbers: once for the real parts and once for the imaginary ones
  elementwise,  // in the body of a reduction, for all elements at once; it knows about complex numbers itself
  everywhere,   // both of the former
};

struct OpImporter {
  std::string_view name;  // with its dialect
  Result<void> (*import)(OpCall& call) = nullptr;
  Scope scope = Scope::whole;
  std::string_view op = {};     // for functions that serve several operations: the op of ours that this one is
  std::string_view notes = {};  // for lists of what is read
};

// Null for what is not read.
const OpImporter* find_importer(std::string_view name);
// In the order of their names.
std::vector<const OpImporter*> all_importers();
// Whether it is known what stablehlo.custom_call does with this target.
bool is_known_target(std::string_view target);
// Why an operation is not read.
std::string_view out_of_scope(std::string_view name);

// The families, each in the file of its name.
std::span<const OpImporter> elementwise_ops();
std::span<const OpImporter> conversion_ops();
std::span<const OpImporter> special_function_ops();
std::span<const OpImporter> linear_ops();
std::span<const OpImporter> convolution_ops();
std::span<const OpImporter> shape_ops();
std::span<const OpImporter> slicing_ops();
std::span<const OpImporter> indexing_ops();
std::span<const OpImporter> reduction_ops();
std::span<const OpImporter> window_ops();
std::span<const OpImporter> sorting_ops();
std::span<const OpImporter> control_ops();
std::span<const OpImporter> normalization_ops();

}  // namespace buda::stablehlo
