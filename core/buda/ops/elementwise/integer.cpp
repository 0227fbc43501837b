// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers: bits, shifts, and the two remainders (which floating-point numbers have too).
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

Result<std::vector<ValueType>> infer_numbers(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  BUDA_ASSIGN(Shape shape, broadcast_all(call.inputs));
  return one(dtype, std::move(shape));
}

Result<std::vector<ValueType>> infer_integers(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  if (!is_integer(dtype)) return dtype_error(cat("integers are needed, not ", dtype_name(dtype)));
  BUDA_ASSIGN(Shape shape, broadcast_all(call.inputs));
  return one(dtype, std::move(shape));
}

// f in 64 bits; conversion back to the element type keeps the low bits.
template <class F>
Result<std::vector<Tensor>> integers(const EvaluateCall& call, F f) {
  const Shape& shape = call.outputs[0].shape;
  if (call.outputs[0].dtype == DType::u64)
    return one_tensor(combined<std::uint64_t>(call.inputs[0], call.inputs[1], shape, call.threads, f));
  return one_tensor(combined<std::int64_t>(call.inputs[0], call.inputs[1], shape, call.threads, f));
}

Result<std::vector<Tensor>> evaluate_and(const EvaluateCall& call) {
  return integers(call, [](auto a, auto b) { return a & b; });
}
Result<std::vector<Tensor>> evaluate_or(const EvaluateCall& call) {
  return integers(call, [](auto a, auto b) { return a | b; });
}
Result<std::vector<Tensor>> evaluate_xor(const EvaluateCall& call) {
  return integers(call, [](auto a, auto b) { return a ^ b; });
}
Result<std::vector<Tensor>> evaluate_bitwise_not(const EvaluateCall& call) {
  if (call.outputs[0].dtype == DType::u64)
    return one_tensor(mapped<std::uint64_t>(call.inputs[0], call.threads, [](std::uint64_t x) { return ~x; }));
  return one_tensor(mapped<std::int64_t>(call.inputs[0], call.threads, [](std::int64_t x) { return ~x; }));
}

// Shifts by the width or more, or by a negative number, leave nothing.
Result<std::vector<Tensor>> evaluate_shift_left(const EvaluateCall& call) {
  auto width = static_cast<std::uint64_t>(8 * dtype_size(call.outputs[0].dtype));
  return integers(call, [width](auto a, auto b) -> decltype(a) {
    auto n = static_cast<std::uint64_t>(b);
    return n >= width ? 0 : static_cast<decltype(a)>(static_cast<std::uint64_t>(a) << n);
  });
}
Result<std::vector<Tensor>> evaluate_shift_right(const EvaluateCall& call) {
  auto width = static_cast<std::uint64_t>(8 * dtype_size(call.outputs[0].dtype));
  return integers(call, [width](auto a, auto b) -> decltype(a) {
    auto n = static_cast<std::uint64_t>(b);
    return n >= width ? (a < 0 ? static_cast<decltype(a)>(-1) : 0) : a >> n;
  });
}

struct Modulo {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        T r = a % b;
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
      } else {
        return a % b;
      }
    } else {
      T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
      return a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};

template <class F>
Result<std::vector<Tensor>> evaluate_numbers(const EvaluateCall& call) {
  return one_tensor(visit_compute<true>(compute_dtype(call.outputs[0].dtype), [&](auto tag) {
    return combined<typename decltype(tag)::type>(call.inputs[0], call.inputs[1], call.outputs[0].shape, call.threads, F{});
  }));
}

OpDef integer_op(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate, decltype(OpDef::infer) infer = infer_integers) {
  return tensor_level_op("integer", std::move(name), std::move(summary), {"a", "b"}, {}, infer, evaluate, one_per_element);
}

}  // namespace

std::vector<OpDef> integer_ops() {
  OpDef invert = integer_op("bitwise_not", "every bit inverted", evaluate_bitwise_not);
  invert.inputs = {"x"};
  invert.least_inputs = invert.most_inputs = 1;
  return {integer_op("bitwise_and", "bits that both have", evaluate_and),
          integer_op("bitwise_or", "bits that one has", evaluate_or),
          integer_op("bitwise_xor", "bits that just one has", evaluate_xor),
          std::move(invert),
          integer_op("shift_left", "a, its bits shifted b places up", evaluate_shift_left),
          integer_op("shift_right", "a, its bits shifted b places down; the sign stays", evaluate_shift_right),
          integer_op("modulo", "what a division rounded down leaves: it has the sign of b; 0 where an integer b is 0",
                     evaluate_numbers<Modulo>, infer_numbers),
          integer_op("remainder", "what a division truncated toward zero leaves: it has the sign of a; 0 where an integer b is 0",
                     evaluate_numbers<Remainder>, infer_numbers)};
}

}  // namespace buda::ops
