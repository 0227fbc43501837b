// SPDX-License-Identifier: Apache-2.0
// The families of operators, put together.
#include "op_table.hpp"

#include <schema_generated.h>

#include <algorithm>
#include <map>

namespace buda::tflite_frontend {
namespace {

const std::map<std::int32_t, const OpImporter*>& table() {
  static const auto* built = [] {
    auto* out = new std::map<std::int32_t, const OpImporter*>;
    for (auto family : {elementwise_ops(), linear_ops(), convolution_ops(), pooling_ops(), shape_ops(), slicing_ops(), indexing_ops(),
                        reduction_ops(), normalization_ops(), resizing_ops(), quantization_ops(), recurrent_ops(), control_ops(), complex_ops()})
      for (const auto& op : family) out->emplace(static_cast<std::int32_t>(op.code), &op);
    return out;
  }();
  return *built;
}

}  // namespace

std::string_view custom_out_of_scope(std::string_view name) {
  if (name == "ethos-u") return "it is code for an Ethos-U processor; import the model from which Vela compiled this one";
  return "it is code outside of the file: convert the model without it (allow_custom_ops=False), or leave it out and compute it before or "
         "after the model";
}

std::string_view out_of_scope(std::int32_t code) {
  switch (static_cast<Code>(code)) {
    case Code::RANDOM_STANDARD_NORMAL:
    case Code::RANDOM_UNIFORM:
    case Code::MULTINOMIAL:
      return "its result is random, while a compiled model gives the same result for the same input";
    case Code::HASHTABLE:
    case Code::HASHTABLE_FIND:
    case Code::HASHTABLE_IMPORT:
    case Code::HASHTABLE_LOOKUP:
    case Code::HASHTABLE_SIZE:
    case Code::LSH_PROJECTION:
    case Code::SKIP_GRAM:
      return "tables and strings are not supported: a chip computes with numbers";
    case Code::NON_MAX_SUPPRESSION_V4:
    case Code::NON_MAX_SUPPRESSION_V5:
    case Code::UNIQUE:
    case Code::WHERE:
      return "the size of its result depends on values, while a compiled model has fixed shapes";
    case Code::DELEGATE:
      return "it stands for code outside of the file";
    default:
      break;
  }
  if (code >= static_cast<std::int32_t>(Code::STABLEHLO_LOGISTIC) && code <= static_cast<std::int32_t>(Code::STABLEHLO_CASE))
    return "operators of StableHLO inside this format are not read";
  if (*tflite_format::EnumNameBuiltinOperator(static_cast<Code>(code)) == '\0') return "unknown to the format's version 3";
  return "not read yet: write this part of the model with operators that are (docs/formats/tflite.md), or leave it out and compute it "
         "before or after the model";
}

const OpImporter* find_importer(std::int32_t code) {
  auto it = table().find(code);
  return it == table().end() ? nullptr : it->second;
}

std::string_view name_of(const OpImporter& importer) { return tflite_format::EnumNameBuiltinOperator(importer.code); }

std::vector<const OpImporter*> all_importers() {
  std::vector<const OpImporter*> out;
  for (const auto& [code, importer] : table()) out.push_back(importer);
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return name_of(*a) < name_of(*b); });
  return out;
}

}  // namespace buda::tflite_frontend
