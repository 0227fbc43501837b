// SPDX-License-Identifier: Apache-2.0
// Formulas of the functions that ONNX allows in RNN, LSTM and GRU.
#include <buda/ops/recurrent/activation_function.hpp>

#include <algorithm>
#include <cmath>

namespace buda::ops {
namespace {

constexpr ActivationFunction kFunctions[] = {
    {"affine", 1, 0, 2, [](double x, double a, double b) { return a * x + b; }},
    {"elu", 1, 0, 1, [](double x, double a, double) { return x >= 0 ? x : a * std::expm1(x); }},
    {"hard_sigmoid", 0.2, 0.5, 2, [](double x, double a, double b) { return std::min(std::max(a * x + b, 0.0), 1.0); }},
    {"leaky_relu", 0.01, 0, 1, [](double x, double a, double) { return x >= 0 ? x : a * x; }},
    {"relu", 0, 0, 0, [](double x, double, double) { return x < 0 ? 0 : x; }},
    {"scaled_tanh", 1, 1, 2, [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"sigmoid", 0, 0, 0, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"softplus", 0, 0, 0, [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"softsign", 0, 0, 0, [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"tanh", 0, 0, 0, [](double x, double, double) { return std::tanh(x); }},
    {"thresholded_relu", 1, 0, 1, [](double x, double a, double) { return x > a ? x : 0; }},
};

}  // namespace

std::optional<ActivationFunction> find_activation(std::string_view name) {
  for (const auto& f : kFunctions)
    if (f.name == name) return f;
  return std::nullopt;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> out;
  for (const auto& f : kFunctions) out.emplace_back(f.name);
  return out;
}

}  // namespace buda::ops
