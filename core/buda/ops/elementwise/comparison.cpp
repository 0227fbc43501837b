// SPDX-License-Identifier: Apache-2.0
// Operations with booleans: comparisons, logic, tests of floating-point numbers, selection; and conversion between element types.
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <cstring>

namespace buda::ops {
namespace {

constexpr Boolean truth(bool b) { return Boolean{static_cast<std::uint8_t>(b)}; }

// ---- two values to a boolean

Result<std::vector<ValueType>> infer_comparison(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::anything));
  BUDA_ASSIGN(Shape shape, broadcast_all(call.inputs));
  return one(DType::boolean, std::move(shape));
}

Result<std::vector<ValueType>> infer_logic(const InferCall& call) {
  for (const auto& input : call.inputs)
    if (input.dtype != DType::boolean) return dtype_error(cat("booleans (BOOL) are needed, not ", dtype_name(input.dtype)));
  return infer_comparison(call);
}

template <class T, class F>
CombineLoop comparing() {
  static constexpr F kFormula{};
  return {&kFormula, [](const void* formula, Run a, Run b, void* to, std::int64_t count) {
            const F& f = *static_cast<const F*>(formula);
            const T* p = static_cast<const T*>(a.first);
            const T* q = static_cast<const T*>(b.first);
            auto* r = static_cast<Boolean*>(to);
            for (std::int64_t i = 0; i < count; ++i) r[i] = truth(f(p[i * a.step], q[i * b.step]));
          }};
}

template <class F>
Result<std::vector<Tensor>> evaluate_comparison(const EvaluateCall& call) {
  const DType compute = compute_dtype(call.inputs[0].dtype());
  CombineLoop loop = visit_compute<true>(compute, [](auto tag) { return comparing<typename decltype(tag)::type, F>(); });
  return one_tensor(combine_elements(call.inputs[0], call.inputs[1], call.outputs[0].shape, compute, DType::boolean, call.threads, loop));
}

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct And {
  template <class T>
  bool operator()(T a, T b) const {
    return a != 0 && b != 0;
  }
};
struct Or {
  template <class T>
  bool operator()(T a, T b) const {
    return a != 0 || b != 0;
  }
};
struct Xor {
  template <class T>
  bool operator()(T a, T b) const {
    return (a != 0) != (b != 0);
  }
};

// ---- one value to a boolean

template <class T, class F>
Result<std::vector<Tensor>> tested(const EvaluateCall& call, F f) {
  Tensor source = call.inputs[0].cast(kDTypeOf<T>);
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::boolean, source.shape()));
  auto x = source.as<T>();
  Boolean* y = out.as<Boolean>().data();
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = truth(f(x[i]));
  return std::vector<Tensor>{std::move(out).take()};
}

Result<std::vector<ValueType>> infer_test(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::floats));
  return one(DType::boolean, call.inputs[0].shape);
}

Result<std::vector<ValueType>> infer_not(const InferCall& call) {
  BUDA_TRY(infer_logic(call));
  return like_first(call);
}

Result<std::vector<Tensor>> evaluate_not(const EvaluateCall& call) {
  return tested<Boolean>(call, [](Boolean x) { return !static_cast<bool>(x); });
}
// Conversion to double keeps NaN and infinities, and makes none.
Result<std::vector<Tensor>> evaluate_is_nan(const EvaluateCall& call) {
  return tested<double>(call, [](double x) { return std::isnan(x); });
}
Result<std::vector<Tensor>> evaluate_is_inf(const EvaluateCall& call) {
  bool positive = call.attrs.boolean("positive"), negative = call.attrs.boolean("negative");
  return tested<double>(call, [=](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

// ---- selection

Result<std::vector<ValueType>> infer_where(const InferCall& call) {
  if (call.inputs[0].dtype != DType::boolean) return dtype_error(cat("the condition must be BOOL, not ", dtype_name(call.inputs[0].dtype)));
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs.subspan(1), Accepts::anything));
  BUDA_ASSIGN(Shape shape, broadcast_all(call.inputs));
  return one(dtype, std::move(shape));
}

Result<std::vector<Tensor>> evaluate_where(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  const Tensor &condition = call.inputs[0], &a = call.inputs[1], &b = call.inputs[2];
  BUDA_ASSIGN(Buffer out, Buffer::make(a.dtype(), shape));
  StridedWalk<3> walk(
      shape, {broadcast_strides(condition.shape(), shape), broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)});
  auto steps = walk.inner_strides();
  auto size = static_cast<std::int64_t>(dtype_size(a.dtype()));
  const Boolean* c = condition.as<Boolean>().data();
  in_chunks(call.threads, walk.count(), [&](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](std::int64_t at, const std::array<std::int64_t, 3>& offsets, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) {
        bool first = static_cast<bool>(c[offsets[0] + i * steps[0]]);
        const char* from =
            first ? a.bytes().data() + (offsets[1] + i * steps[1]) * size : b.bytes().data() + (offsets[2] + i * steps[2]) * size;
        std::memcpy(out.bytes() + (at + i) * size, from, static_cast<std::size_t>(size));
      }
    });
  });
  return std::vector<Tensor>{std::move(out).take()};
}

// ---- conversion

Result<std::vector<ValueType>> infer_cast(const InferCall& call) {
  auto dtype = dtype_from_name(call.attrs.text("dtype"));
  if (!dtype) return dtype_error(cat("'", call.attrs.text("dtype"), "' is not an element type"));
  return one(*dtype, call.inputs[0].shape);
}

Result<std::vector<Tensor>> evaluate_cast(const EvaluateCall& call) {
  return std::vector<Tensor>{call.inputs[0].cast(call.outputs[0].dtype)};
}

// Elements of another size become several along a new last axis, or take the place of those along the last axis.
Result<std::vector<ValueType>> infer_bitcast(const InferCall& call) {
  auto dtype = dtype_from_name(call.attrs.text("dtype"));
  if (!dtype) return dtype_error(cat("'", call.attrs.text("dtype"), "' is not an element type"));
  const ValueType& from = call.inputs[0];
  if (from.dtype == DType::boolean || *dtype == DType::boolean) return dtype_error("booleans have no number of bits");
  const auto size = static_cast<std::int64_t>(dtype_size(from.dtype)), wanted = static_cast<std::int64_t>(dtype_size(*dtype));
  std::vector<std::int64_t> dims = from.shape.dims();
  if (wanted < size) dims.push_back(size / wanted);
  if (wanted > size) {
    if (dims.empty() || dims.back() != wanted / size)
      return shape_error(cat("elements of ", wanted, " bytes are ", wanted / size, " of ", dtype_name(from.dtype), "; the last axis of ",
                             from.shape.text(), " must have that size"));
    dims.pop_back();
  }
  return one(*dtype, Shape(std::move(dims)));
}

Result<std::vector<Tensor>> evaluate_bitcast(const EvaluateCall& call) {
  return one_tensor(Tensor::from_bytes(call.outputs[0].dtype, call.outputs[0].shape, io::Bytes(std::string(call.inputs[0].bytes()))));
}

OpDef comparison_op(std::string name, std::string summary, std::vector<std::string> inputs, decltype(OpDef::infer) infer,
                    decltype(OpDef::evaluate) evaluate, std::vector<AttrDef> attrs = {}) {
  return tensor_level_op("comparison", std::move(name), std::move(summary), std::move(inputs), std::move(attrs), infer, evaluate);
}

}  // namespace

std::vector<OpDef> comparison_ops() {
  std::vector<std::string> dtypes;
  for (DType t : all_dtypes()) dtypes.emplace_back(dtype_name(t));
  return {
      comparison_op("equal", "is a equal to b? NaN is equal to nothing", {"a", "b"}, infer_comparison, evaluate_comparison<Equal>),
      comparison_op("greater", "a > b", {"a", "b"}, infer_comparison, evaluate_comparison<Greater>),
      comparison_op("greater_equal", "a >= b", {"a", "b"}, infer_comparison, evaluate_comparison<GreaterEqual>),
      comparison_op("less", "a < b", {"a", "b"}, infer_comparison, evaluate_comparison<Less>),
      comparison_op("less_equal", "a <= b", {"a", "b"}, infer_comparison, evaluate_comparison<LessEqual>),
      comparison_op("logical_and", "are both true?", {"a", "b"}, infer_logic, evaluate_comparison<And>),
      comparison_op("logical_or", "is one of both true?", {"a", "b"}, infer_logic, evaluate_comparison<Or>),
      comparison_op("logical_xor", "is just one of both true?", {"a", "b"}, infer_logic, evaluate_comparison<Xor>),
      comparison_op("logical_not", "is it false?", {"x"}, infer_not, evaluate_not),
      comparison_op("is_nan", "is it NaN?", {"x"}, infer_test, evaluate_is_nan),
      comparison_op("is_inf", "is it infinite?", {"x"}, infer_test, evaluate_is_inf,
                    {{"positive", AttrType::boolean, true, "does +infinity count?", {}},
                     {"negative", AttrType::boolean, true, "does -infinity count?", {}}}),
      comparison_op("where", "a where the condition is true, else b; all three broadcast", {"condition", "a", "b"}, infer_where,
                    evaluate_where),
      comparison_op(
          "bitcast",
          "the bits of x as elements of another type; narrower ones are several along a new last axis, and wider ones need such an axis",
          {"x"}, infer_bitcast, evaluate_bitcast, {{"dtype", AttrType::text, std::nullopt, "the element type", dtypes}}),
      comparison_op("cast", "converted to another element type; floats to integers truncate, and saturate where the integer type ends",
                    {"x"}, infer_cast, evaluate_cast, {{"dtype", AttrType::text, std::nullopt, "the element type", dtypes}}),
      comparison_op("exact_cast", "converted to another element type that holds all elements of x, as whoever built the graph knows", {"x"},
                    infer_cast, evaluate_cast, {{"dtype", AttrType::text, std::nullopt, "the element type", std::move(dtypes)}})};
}

}  // namespace buda::ops
