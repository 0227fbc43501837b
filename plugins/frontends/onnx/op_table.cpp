// The families of operators, put together.
#include "op_table.hpp"

#include "model.hpp"

#include <map>

namespace buda::onnx_frontend {
namespace {

const std::map<std::string_view, const OpImporter*>& table() {
  static const auto* built = [] {
    auto* out = new std::map<std::string_view, const OpImporter*>;
    for (auto family : {elementwise_ops(), linear_ops(), shape_ops(), normalization_ops(), reduction_ops(), constant_ops(),
                        convolution_ops(), pooling_ops(), channel_norm_ops(), control_ops(), resizing_ops(), recurrent_ops(),
                        quantization_ops(), signal_ops(), einsum_ops()})
      for (const auto& op : family) out->emplace(op.op_type, &op);
    return out;
  }();
  return *built;
}

}  // namespace

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
