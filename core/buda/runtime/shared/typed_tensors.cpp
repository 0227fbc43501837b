// SPDX-License-Identifier: Apache-2.0
// Names, shapes, types.
#include <buda/runtime/shared/typed_tensors.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::runtime {
namespace {

std::string type_text(const TensorType& t) { return cat('\'', t.name, "' ", dtype_name(t.dtype), ' ', t.shape.text()); }

}  // namespace

std::string types_text(const std::vector<TensorType>& types) {
  std::vector<std::string> out;
  for (const TensorType& t : types) out.push_back(type_text(t));
  return out.empty() ? "nothing" : join(out, ", ");
}

Result<NamedTensors> typed_tensors(const std::vector<TensorType>& types, const NamedTensors& given) {
  Failure failure;
  NamedTensors out;
  std::vector<std::string> names;
  for (const TensorType& t : types) names.push_back(t.name);
  for (const auto& [name, tensor] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    Diagnostic d = input_error("RT020", {}, cat("there is no input '", name, "'; there are ", types_text(types)));
    if (auto near = nearest_word(name, names)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  for (const TensorType& t : types) {
    auto tensor = given.find(t.name);
    if (tensor == given.end()) {
      failure.add(input_error("RT020", {}, cat("input ", type_text(t), " is missing")));
    } else if (tensor->second.shape() != t.shape) {
      failure.add(input_error("RT021", {}, cat("input ", type_text(t), " is given as ", tensor->second.describe())));
    } else {
      host_plan::PlanTensor named;
      named.name = t.name;
      auto converted = with_dtype(Port{&named, nullptr, t.dtype, t.shape, {}}, tensor->second);
      if (converted) {
        out.emplace(t.name, std::move(*converted));
      } else {
        failure.add(std::move(converted).failure());
      }
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::runtime
