// SPDX-License-Identifier: Apache-2.0
// The given value against the text of the fixed one.
#include <buda/runtime/inputs/fixed_inputs.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::runtime {
namespace {

// The parts of which each has to be the fixed value: the whole, or the rows of each batch. None where it cannot be: another shape.
Result<std::vector<Tensor>> parts_of(const Tensor& given, const Shape& shape) {
  std::vector<Tensor> out;
  const Shape& all = given.shape();
  if (all == shape) {
    out.push_back(given);
  } else if (shape.rank() > 0 && shape[0] > 0 && all.rank() == shape.rank() && std::equal(all.begin() + 1, all.end(), shape.begin() + 1) &&
             all[0] % shape[0] == 0) {
    for (std::int64_t row = 0; row < all[0]; row += shape[0]) {
      BUDA_ASSIGN(auto rows, rows_of(given, row, shape[0]));
      out.push_back(std::move(rows));
    }
  }
  return out;
}

}  // namespace

Result<void> check_fixed_input(const Port& port, const Tensor& given) {
  const std::string& fixed = port.tensor->fixed_value;
  if (fixed.empty()) return success();
  auto differs = [&](const std::string& what) {
    Diagnostic d = input_error("RT025", {},
                               cat("input '", port.tensor->name, "' was fixed by --value when the model was imported (",
                                   dtype_name(port.dtype), ' ', port.shape.text(), ", ", fixed, "), and ", what));
    d.node = port.tensor->name;
    d.hint = cat("leave the input out of this run, or import the model with --value ", port.tensor->name, "=FILE of the other value");
    return d;
  };
  BUDA_ASSIGN(const Tensor tensor, with_dtype(port, given));
  BUDA_ASSIGN(const auto parts, parts_of(tensor, port.shape));
  if (parts.empty()) return differs(cat("is given as ", given.describe()));
  for (const Tensor& part : parts)
    if (std::string text = graph::fixed_value_text(part); text != fixed) return differs(cat("another value is given (", text, ')'));
  return success();
}

Result<void> check_fixed_inputs(const Ports& ports, const NamedTensors& inputs) {
  Failure failure;
  for (const Port& port : ports.inputs) {
    auto given = inputs.find(port.tensor->name);
    if (given == inputs.end()) continue;
    if (auto same = check_fixed_input(port, given->second); !same) failure.add(std::move(same).failure());
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::runtime
