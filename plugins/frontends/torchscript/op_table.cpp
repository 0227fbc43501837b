// SPDX-License-Identifier: Apache-2.0
// The families of operators, put together.
#include "op_table.hpp"

#include "definitions.hpp"

#include <algorithm>
#include <map>

namespace buda::torchscript {
namespace {

const std::map<std::string_view, const OpImporter*>& table() {
  static const auto* built = [] {
    auto* out = new std::map<std::string_view, const OpImporter*>;
    for (auto family : {unary_ops(),     binary_ops(),    linear_ops(),     convolution_ops(), pooling_ops(),   normalization_ops(),
                        reduction_ops(), shape_ops(),     view_ops(),       indexing_ops(),    generator_ops(), resizing_ops(),
                        recurrent_ops(), attention_ops(), padding_ops(),    cell_ops(),        sliding_ops(),   spectral_ops(),
                        lookup_ops(),    sampling_ops(),  deformable_ops(), loss_ops(),        diagonal_ops()})
      for (const auto& op : family) out->emplace(op.name, &op);
    return out;
  }();
  return *built;
}

bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

}  // namespace

std::string_view out_of_scope(std::string_view name) {
  for (std::string_view random :
       {"rand", "randn", "randint", "randperm", "bernoulli", "multinomial", "normal", "uniform", "rand_like", "randn_like"})
    if (name == random || (name.starts_with(random) && name.ends_with('_')))
      return "its result is random, while a compiled model gives the same result for the same input";
  for (std::string_view dynamic : {"nonzero", "unique", "_unique2", "masked_select", "nms", "unique_consecutive"})
    if (name == dynamic) return "the size of its result depends on values, while a compiled model has fixed shapes";
  if (contains(name, "nested"))
    return "nested tensors are not supported: PyTorch takes them for masks where there are no gradients; trace the model outside of "
           "torch.no_grad()";
  if (contains(name, "quantize")) return "quantised tensors are not read: save the model in float32";
  if (contains(name, "MKLDNN") || contains(name, "mkldnn"))
    return "it is code of oneDNN: save the model before torch.jit.optimize_for_inference, or without to_mkldnn";
  if (contains(name, "fft") || contains(name, "complex")) return "complex numbers are not supported in this operator";
  return "not read yet: write this part of the model with operators that are (docs/formats/torchscript.md), or leave it out and compute it "
         "before or after the model";
}

const OpImporter* find_importer(std::string_view name) {
  auto it = table().find(name);
  if (it == table().end() && name.ends_with('_') && !name.ends_with("__")) it = table().find(name.substr(0, name.size() - 1));
  return it == table().end() ? nullptr : it->second;
}

std::vector<const OpImporter*> all_importers() {
  std::vector<const OpImporter*> out;
  for (const auto& [name, importer] : table())
    if (importer->notes != kPartOfOthers) out.push_back(importer);
  for (const OpImporter* defined : defined_ops()) out.push_back(defined);
  std::sort(out.begin(), out.end(), [](const OpImporter* a, const OpImporter* b) { return a->name < b->name; });
  return out;
}

}  // namespace buda::torchscript
