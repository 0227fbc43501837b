// SPDX-License-Identifier: Apache-2.0
// Evaluations of ops with one input that compute element by element.
#pragma once

#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/op.hpp>
#include <buda/ops/table/rules.hpp>

#include <vector>

namespace buda::ops {

// f is a generic lambda; attributes that it needs are bound when it is made, by `make(attrs)`.
template <bool kIntegersToo, class Make>
Result<std::vector<Tensor>> evaluate_with(const EvaluateCall& call, Make make) {
  return one_tensor(visit_compute<kIntegersToo>(compute_dtype(call.inputs[0].dtype()), [&](auto tag) {
    return mapped<typename decltype(tag)::type>(call.inputs[0], call.threads, make(tag));
  }));
}

// An evaluation without attributes: BUDA_UNARY(name, takes integers, expression of x and T).
#define BUDA_UNARY(name, integers_too, expression)                        \
  Result<std::vector<Tensor>> evaluate_##name(const EvaluateCall& call) { \
    return evaluate_with<integers_too>(call, [](auto tag) {               \
      using T = typename decltype(tag)::type;                             \
      return [](T x) -> T { return expression; };                         \
    });                                                                   \
  }

// Of device ops that have no counterpart at tensor level (device_ops.def).
Result<std::vector<Tensor>> evaluate_gelu_derivative(const EvaluateCall& call);
Result<std::vector<Tensor>> evaluate_integer_power(const EvaluateCall& call);

}  // namespace buda::ops
