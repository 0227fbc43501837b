// SPDX-License-Identifier: Apache-2.0
// The families of operators, put together.
#include "op_table.hpp"

#include "model.hpp"

#include <map>
#include <utility>

namespace buda::onnx_frontend {
namespace {

using Table = std::map<std::string_view, const OpImporter*>;

Table table_of(std::initializer_list<std::span<const OpImporter>> families) {
  Table out;
  for (auto family : families)
    for (const auto& op : family) out.emplace(op.op_type, &op);
  return out;
}

const Table& table() {
  static const auto* built = new Table(
      table_of({elementwise_ops(),  linear_ops(),         shape_ops(),        normalization_ops(), reduction_ops(), constant_ops(),
                convolution_ops(),  pooling_ops(),        channel_norm_ops(), control_ops(),       resizing_ops(),  recurrent_ops(),
                quantization_ops(), signal_ops(),         einsum_ops(),       activation_ops(),    logic_ops(),     indexing_ops(),
                generator_ops(),    data_dependent_ops(), sampling_ops(),     sequence_ops(),      attention_ops()}));
  return *built;
}

const Table& contrib_table() {
  static const auto* built = new Table(table_of(
      {contrib_elementwise_ops(), contrib_linear_ops(), contrib_norm_ops(), contrib_attention_ops(), contrib_grouped_attention_ops(),
       contrib_position_ops(), contrib_image_ops(), contrib_blocks_ops(), contrib_recurrent_ops(), contrib_quantization_ops()}));
  return *built;
}

const Table& training_table() {
  static const auto* built = new Table(table_of({training_ops()}));
  return *built;
}

std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> out;
  for (const auto& [name, op] : table) out.push_back(name);
  return out;
}

constexpr std::string_view kRandom = "its result is random, while a compiled model gives the same result for the same input";
constexpr std::string_view kOptionals = "optional values are not supported: their presence must be known at compile time";
constexpr std::string_view kFiles = "image file formats are not supported: decode images before, and push the pixels";
constexpr std::string_view kStrings = "strings are not supported: a chip computes with numbers";
constexpr std::pair<std::string_view, std::string_view> kOutOfScope[] = {
    {"Bernoulli", kRandom},       {"ImageDecoder", kFiles},      {"Multinomial", kRandom},       {"Optional", kOptionals},
    {"RandomNormal", kRandom},    {"RandomNormalLike", kRandom}, {"RandomUniform", kRandom},     {"RandomUniformLike", kRandom},
    {"RegexFullMatch", kStrings}, {"StringConcat", kStrings},    {"StringNormalizer", kStrings}, {"StringSplit", kStrings},
};

}  // namespace

std::string_view out_of_scope(std::string_view domain, std::string_view op_type) {
  if (domain == "ai.onnx.ml") return "operators of classical machine learning are not supported";
  if (domain == kContribDomain)
    return "this operator of onnxruntime is not read: export the model without onnxruntime's optimizer, or give it a function of this name "
           "(onnx.helper.make_function)";
  if (domain != kDefaultDomain)
    return "operators of this domain are not supported: give the model a function of this name (onnx.helper.make_function), or leave it "
           "out "
           "(onnx.utils.extract_model)";
  for (const auto& [name, why] : kOutOfScope)
    if (name == op_type) return why;
  return "";
}

const OpImporter* find_importer(std::string_view domain, std::string_view op_type) {
  if (domain != kDefaultDomain && domain != kContribDomain && domain != kTrainingDomain) return nullptr;
  const Table& ops = domain == kDefaultDomain ? table() : domain == kContribDomain ? contrib_table() : training_table();
  auto it = ops.find(op_type);
  return it == ops.end() ? nullptr : it->second;
}

std::vector<std::string_view> imported_op_types() { return names_of(table()); }

std::vector<std::string_view> imported_contrib_op_types() { return names_of(contrib_table()); }

std::vector<std::string_view> imported_training_op_types() { return names_of(training_table()); }

}  // namespace buda::onnx_frontend
