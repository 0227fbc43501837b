// SPDX-License-Identifier: Apache-2.0
// The inputs of a model: their names and sizes, and values that the user fixed.
#pragma once

#include "module.hpp"

#include <buda/plugin/model_source.hpp>
#include <buda/tensor/tensor.hpp>

#include <optional>

namespace buda::stablehlo {

struct ModelInput {
  std::string name;
  DType dtype = DType::f32;
  bool is_complex = false;  // then two inputs: <name>.real and <name>.imag
  Shape shape;
  std::optional<Tensor> value;  // fixed by the user
};

// One for each argument of the function. Every open size without a value, and every size and value that was given for no input, is
// reported.
Result<std::vector<ModelInput>> resolve_inputs(const Module& module, const Function& function, const plugin::ImportOptions& options);

// The names of a function's results, which are those of the graph's outputs.
std::vector<std::string> result_names(const Function& function, std::size_t count);

}  // namespace buda::stablehlo
