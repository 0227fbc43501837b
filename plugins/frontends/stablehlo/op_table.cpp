// SPDX-License-Identifier: Apache-2.0
// The families of operations, put together.
#include "op_table.hpp"

#include <map>

namespace buda::stablehlo {
namespace {

const std::map<std::string_view, const OpImporter*>& table() {
  static const auto* built = [] {
    auto* out = new std::map<std::string_view, const OpImporter*>;
    for (auto family : {elementwise_ops(), conversion_ops(), special_function_ops(), linear_ops(), convolution_ops(), shape_ops(),
                        slicing_ops(), indexing_ops(), reduction_ops(), window_ops(), sorting_ops(), control_ops(), normalization_ops()})
      for (const auto& op : family) out->emplace(op.name, &op);
    return out;
  }();
  return *built;
}

bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

}  // namespace

std::string_view out_of_scope(std::string_view name) {
  if (contains(name, "rng")) return "its result is random, while a compiled model gives the same result for the same input";
  for (std::string_view collective : {"all_gather", "all_reduce", "all_to_all", "collective", "partition_id", "replica_id",
                                      "reduce_scatter", "send", "recv", "infeed", "outfeed"})
    if (contains(name, collective))
      return "it exchanges data with other devices or the host while the model runs; export the model for one device";
  if (!name.starts_with("stablehlo.") && !name.starts_with("chlo.") && !name.starts_with("func."))
    return "it is of another dialect: convert the module to StableHLO and CHLO first";
  return "not read yet: write this part of the model with operators that are (docs/formats/stablehlo.md), or leave it out and compute it "
         "before "
         "or after the model";
}

const OpImporter* find_importer(std::string_view name) {
  auto it = table().find(name);
  return it == table().end() ? nullptr : it->second;
}

std::vector<const OpImporter*> all_importers() {
  std::vector<const OpImporter*> out;
  for (const auto& [name, importer] : table()) out.push_back(importer);
  return out;
}

}  // namespace buda::stablehlo
