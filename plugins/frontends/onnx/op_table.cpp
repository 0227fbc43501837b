// The families of operators, put together.
#include "op_table.hpp"

#include "model.hpp"

#include <map>
#include <utility>

namespace buda::onnx_frontend {
namespace {

const std::map<std::string_view, const OpImporter*>& table() {
  static const auto* built = [] {
    auto* out = new std::map<std::string_view, const OpImporter*>;
    for (auto family : {elementwise_ops(),  linear_ops(),         shape_ops(),        normalization_ops(), reduction_ops(), constant_ops(),
                        convolution_ops(),  pooling_ops(),        channel_norm_ops(), control_ops(),       resizing_ops(),  recurrent_ops(),
                        quantization_ops(), signal_ops(),         einsum_ops(),       activation_ops(),    logic_ops(),     indexing_ops(),
                        generator_ops(),    data_dependent_ops(), sampling_ops()})
      for (const auto& op : family) out->emplace(op.op_type, &op);
    return out;
  }();
  return *built;
}

constexpr std::string_view kRandom = "its result is random, while a compiled model gives the same result for the same input";
constexpr std::string_view kSequences = "sequences of tensors are not supported: a chip's queues hold tensors of one shape";
constexpr std::string_view kOptionals = "optional values are not supported: their presence must be known at compile time";
constexpr std::string_view kFiles = "image file formats are not supported: decode images before, and push the pixels";
constexpr std::string_view kStrings = "strings are not supported: a chip computes with numbers";
constexpr std::pair<std::string_view, std::string_view> kOutOfScope[] = {
    {"Bernoulli", kRandom},        {"ConcatFromSequence", kSequences}, {"Multinomial", kRandom},       {"ImageDecoder", kFiles},
    {"Optional", kOptionals},      {"RegexFullMatch", kStrings},       {"RandomNormal", kRandom},      {"RandomNormalLike", kRandom},
    {"RandomUniform", kRandom},    {"RandomUniformLike", kRandom},     {"SequenceAt", kSequences},     {"SequenceConstruct", kSequences},
    {"SequenceEmpty", kSequences}, {"SequenceErase", kSequences},      {"SequenceInsert", kSequences}, {"SequenceLength", kSequences},
    {"SequenceMap", kSequences},   {"SplitToSequence", kSequences},    {"StringConcat", kStrings},     {"StringNormalizer", kStrings},
    {"StringSplit", kStrings},
};

}  // namespace

std::string_view out_of_scope(std::string_view domain, std::string_view op_type) {
  if (domain == "ai.onnx.preview.training") return "training is not supported; export the model for inference";
  if (domain == "ai.onnx.ml") return "operators of classical machine learning are not supported";
  if (domain != kDefaultDomain)
    return "operators of this domain are not supported: give the model a function of this name (onnx.helper.make_function), or leave it "
           "out "
           "(onnx.utils.extract_model)";
  for (const auto& [name, why] : kOutOfScope)
    if (name == op_type) return why;
  return "";
}

const OpImporter* find_importer(std::string_view domain, std::string_view op_type) {
  if (domain != kDefaultDomain) return nullptr;
  auto it = table().find(op_type);
  return it == table().end() ? nullptr : it->second;
}

std::vector<std::string_view> imported_op_types() {
  std::vector<std::string_view> out;
  for (const auto& [name, op] : table()) out.push_back(name);
  return out;
}

}  // namespace buda::onnx_frontend
