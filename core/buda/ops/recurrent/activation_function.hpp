// SPDX-License-Identifier: Apache-2.0
// The functions that recurrent cells can apply to their gates.
#pragma once

#include <buda/diag/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

struct ActivationFunction {
  std::string_view name;
  double alpha = 0, beta = 0;  // standard values; which of them the function has, says `parameters`
  int parameters = 0;
  double (*apply)(double x, double alpha, double beta) = nullptr;

  double operator()(double x) const { return apply(x, alpha, beta); }
};

// "relu", "hard_sigmoid", …; nothing for other names.
std::optional<ActivationFunction> find_activation(std::string_view name);
std::vector<std::string> activation_names();

}  // namespace buda::ops

#pragma GCC visibility pop
