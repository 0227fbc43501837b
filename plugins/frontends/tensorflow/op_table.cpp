// SPDX-License-Identifier: Apache-2.0
// The families of operators, put together.
#include "op_table.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <map>

namespace buda::tensorflow_frontend {
namespace {

const std::map<std::string_view, const OpImporter*>& table() {
  static const auto* built = [] {
    auto* out = new std::map<std::string_view, const OpImporter*>;
    for (auto family : {elementwise_ops(), linear_ops(), convolution_ops(), shape_ops(), slicing_ops(), indexing_ops(), reduction_ops(),
                        normalization_ops(), resizing_ops(), quantization_ops(), control_ops(), list_ops(), block_ops(), complex_ops(),
                        diagonal_ops(), segment_ops()})
      for (const auto& op : family) out->emplace(op.type, &op);
    return out;
  }();
  return *built;
}

// What groups of operators have in common; the first whose text is a part of the operator's name counts.
struct Reason {
  std::string_view part, text;
};
constexpr Reason kReasons[] = {
    {"Grad", "it belongs to training; export the graph for inference, or name its outputs with --set frontend.tensorflow.outputs=NAMES"},
    {"Backprop",
     "it belongs to training; export the graph for inference, or name its outputs with --set frontend.tensorflow.outputs=NAMES"},
    {"Apply", "it belongs to training; export the graph for inference, or name its outputs with --set frontend.tensorflow.outputs=NAMES"},
    {"Assign", "variables that keep their values between runs are not supported; make the state an input and an output of the model"},
    {"Random", "its result is random, while a compiled model gives the same result for the same input; export the model for inference"},
    {"Multinomial", "its result is random, while a compiled model gives the same result for the same input"},
    {"NonMaxSuppression", "the size of its result depends on values; end the model before it with --set frontend.tensorflow.outputs=NAMES"},
    {"Unique", "the size of its result depends on values, while a compiled model has fixed shapes"},
    {"Cudnn",
     "it is code of a GPU's library; export the layer so that it runs on any device (Keras: use_cudnn=False, or its standard "
     "implementation)"},
    {"Decode", "files are decoded before the model; start it after this with --set frontend.tensorflow.inputs=NAMES and --input-shape"},
    {"String",
     "texts are not supported: a chip computes with numbers; start the model after this with --set "
     "frontend.tensorflow.inputs=NAMES and --input-shape"},
    {"Hash", "tables and texts are not supported: a chip computes with numbers"},
    {"Lookup", "tables and texts are not supported: a chip computes with numbers"},
    {"Mfcc", "signal processing is not read; start the model after it with --set frontend.tensorflow.inputs=NAMES and --input-shape"},
    {"AudioSpectrogram",
     "signal processing is not read; start the model after it with --set frontend.tensorflow.inputs=NAMES and --input-shape"},
    {"FFT", "transforms of one and two axes are read"},
    {"Sparse", "sparse tensors are not supported"},
    {"Iterator", "input pipelines are not read; start the model after this with --set frontend.tensorflow.inputs=NAMES and --input-shape"},
    {"Queue", "input pipelines are not read; start the model after this with --set frontend.tensorflow.inputs=NAMES and --input-shape"},
    {"PyFunc", "it calls code outside of the file"},
    {"TRT", "it is code of another compiler; export the model without it"},
    {"_Fused",
     "it is what TensorFlow's optimiser makes of several operators, and not read in this form yet; export the graph before it is "
     "optimised"},
};

}  // namespace

std::string out_of_scope(std::string_view type) {
  for (const Reason& reason : kReasons)
    if (type.find(reason.part) != std::string_view::npos) return std::string(reason.text);
  std::vector<std::string> known;
  for (const auto& [name, importer] : table()) known.emplace_back(name);
  auto near = nearest_word(std::string(type), known);
  return cat("not read yet", near ? cat(" ('", *near, "' is)") : "",
             ": end the model before it with --set frontend.tensorflow.outputs=NAMES, or start it after that with --set "
             "frontend.tensorflow.inputs=NAMES and --input-shape");
}

const OpImporter* find_importer(std::string_view type) {
  auto it = table().find(type);
  return it == table().end() ? nullptr : it->second;
}

std::vector<const OpImporter*> all_importers() {
  std::vector<const OpImporter*> out;
  for (const auto& [name, importer] : table()) out.push_back(importer);
  return out;
}

std::optional<std::int64_t> first_result(const OpImporter& importer, std::string_view name) {
  if (name.empty() || importer.results.empty()) return 0;
  std::int64_t at = 0;
  for (std::string_view result : split(importer.results, ' ')) {
    if (result == name) return at;
    ++at;
  }
  return std::nullopt;
}

}  // namespace buda::tensorflow_frontend
