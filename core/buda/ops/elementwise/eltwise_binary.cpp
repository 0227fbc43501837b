// SPDX-License-Identifier: Apache-2.0
// Elementwise operations of two values.
//
// At tensor level they broadcast as NumPy does and take numbers of one type. Division of integers truncates toward zero; dividing by zero
// and raising zero to a negative power give 0, since an integer has no infinity. The ops of device level follow from these (device_op.hpp).
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <cmath>
#include <limits>

namespace buda::ops {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping_add(a, b);
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping_subtract(a, b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping_multiply(a, b);
  }
};
// 0 where one of the factors is, whatever the other is.
struct Mask {
  template <class T>
  T operator()(T a, T b) const {
    return a == 0 || b == 0 ? T{0} : wrapping_multiply(a, b);
  }
};
// Of the sign that says which is larger: NaN counts as a number beyond the infinity of its sign, and equal infinities are equal.
struct Order {
  template <class T>
  T operator()(T a, T b) const {
    if (a == b) return T{0};
    if constexpr (std::is_floating_point_v<T>) {
      const T infinity = std::numeric_limits<T>::infinity();
      if (is_nan(a)) return is_nan(b) && std::signbit(a) == std::signbit(b) ? T{0} : std::copysign(infinity, a);
      if (is_nan(b)) return -std::copysign(infinity, b);
    }
    return wrapping_subtract(a, b);
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return wrapping_subtract(T{0}, a);
    }
    return a / b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return larger(a, b);
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return smaller(a, b);
  }
};
struct Power {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b < 0) return a == 1 || a == static_cast<T>(-1) ? power(a, static_cast<std::uint64_t>(b) & 1) : T{0};
      return power(a, static_cast<std::uint64_t>(b));
    } else {
      return std::pow(a, b);
    }
  }

 private:
  template <class T>
  static T power(T base, std::uint64_t exponent) {
    T result = 1;
    for (; exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) result = wrapping_multiply(result, base);
      base = wrapping_multiply(base, base);
    }
    return result;
  }
};

Result<std::vector<ValueType>> infer_tensor(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  BUDA_ASSIGN(Shape shape, broadcast_all(call.inputs));
  return one(dtype, std::move(shape));
}

template <class F>
Result<std::vector<Tensor>> evaluate_both(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  return one_tensor(visit_compute<true>(compute_dtype(call.outputs[0].dtype), [&](auto tag) {
    return combined<typename decltype(tag)::type>(call.inputs[0], call.inputs[1], shape, call.threads, F{});
  }));
}

Result<std::vector<Tensor>> evaluate_product(const EvaluateCall& call) {
  return call.attrs.boolean("masks") ? evaluate_both<Mask>(call) : evaluate_both<Multiply>(call);
}
Result<std::vector<Tensor>> evaluate_difference(const EvaluateCall& call) {
  return call.attrs.boolean("orders") ? evaluate_both<Order>(call) : evaluate_both<Subtract>(call);
}

AttrDef binary_flag(std::string name, std::string doc) { return {std::move(name), AttrType::boolean, false, std::move(doc), {}}; }

OpDef binary_op(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate, std::vector<AttrDef> attrs = {}) {
  return tensor_level_op("eltwise_binary", std::move(name), std::move(summary), {"a", "b"}, std::move(attrs), infer_tensor, evaluate,
                         one_per_element);
}

}  // namespace

std::vector<OpDef> eltwise_binary_ops() {
  return {binary_op("add", "a + b", evaluate_both<Add>),
          binary_op("subtract", "a - b", evaluate_difference,
                    {binary_flag("orders", "only the sign counts: 0 for equal infinities, and a NaN is beyond the infinity of its sign")}),
          binary_op("multiply", "a * b", evaluate_product, {binary_flag("masks", "0 where one of them is 0, whatever the other one is")}),
          binary_op("divide", "a / b; integers truncate toward zero", evaluate_both<Divide>),
          binary_op("maximum", "the larger of a and b; NaN if one is NaN", evaluate_both<Maximum>),
          binary_op("minimum", "the smaller of a and b; NaN if one is NaN", evaluate_both<Minimum>),
          binary_op("power", "a to the power of b", evaluate_both<Power>)};
}

}  // namespace buda::ops
