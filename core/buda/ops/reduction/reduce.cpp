// SPDX-License-Identifier: Apache-2.0
// Reductions: sum, mean, product, maximum and minimum along axes, and the device's reduce.
//
// Sums are taken in fp64 (integers: in 64 bits), one element after the other in row-major order, so that the result is the same with any
// number of threads. The mean of integers truncates toward zero. A maximum over nothing is the smallest value of the type, a
// minimum the largest.
//
// The device's reduce takes the maximum. Along r (c) it leaves one row (column) of tiles per z, with the result in row (column) 0 and zeros
// beside it; along z it turns each group of `z` slices into one.
#include <buda/base/text.hpp>
#include <buda/graph/tm.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <type_traits>

namespace buda::ops {
namespace {

bool is_among(const std::vector<std::size_t>& axes, std::size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

Result<std::vector<ValueType>> infer_reduce(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  const Shape& in = call.inputs[0].shape;
  BUDA_ASSIGN(std::vector<std::size_t> axes, resolved_axes(in, call.attrs.integers("dims")));
  Shape out;
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (!is_among(axes, i)) {
      out.push_back(in[i]);
    } else if (call.attrs.boolean("keep_dims")) {
      out.push_back(1);
    }
  }
  return one(dtype, std::move(out));
}

// In what sums are taken.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;

struct SumOf {
  template <class T>
  static Sum<T> start() {
    return 0;
  }
  template <class T>
  static void add(Sum<T>& sum, T x) {
    sum = wrapping_add(sum, static_cast<Sum<T>>(x));
  }
  template <class T>
  static T finish(Sum<T> sum, std::int64_t) {
    return static_cast<T>(sum);
  }
};

struct MeanOf : SumOf {
  template <class T>
  static T finish(Sum<T> sum, std::int64_t count) {
    if constexpr (std::is_integral_v<T>) {
      if (count == 0) return 0;
    }
    return static_cast<T>(sum / static_cast<Sum<T>>(count));
  }
};

struct ProductOf {
  template <class T>
  static Sum<T> start() {
    return 1;
  }
  template <class T>
  static void add(Sum<T>& product, T x) {
    product = wrapping_multiply(product, static_cast<Sum<T>>(x));
  }
  template <class T>
  static T finish(Sum<T> product, std::int64_t) {
    return static_cast<T>(product);
  }
};

struct MinOf {
  template <class T>
  static Sum<T> start() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<double>::infinity();
    return std::numeric_limits<T>::max();
  }
  template <class T>
  static void add(Sum<T>& least, T x) {
    least = smaller(least, static_cast<Sum<T>>(x));
  }
  template <class T>
  static T finish(Sum<T> least, std::int64_t) {
    return static_cast<T>(least);
  }
};

struct MaxOf {
  template <class T>
  static Sum<T> start() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static void add(Sum<T>& most, T x) {
    most = larger(most, static_cast<Sum<T>>(x));
  }
  template <class T>
  static T finish(Sum<T> most, std::int64_t) {
    return static_cast<T>(most);
  }
};

// The tensor is walked with the kept axes outside and the reduced ones inside.
template <class Reduction, class T>
Result<Tensor> reduced(const Tensor& in, const std::vector<std::size_t>& axes, const Shape& result, unsigned threads) {
  Tensor source = in.cast(kDTypeOf<T>);
  std::vector<std::int64_t> strides = in.shape().strides(), kept_strides, inner_strides;
  Shape kept, inner;
  for (std::size_t i = 0; i < in.shape().rank(); ++i) {
    bool reduce = is_among(axes, i);
    (reduce ? inner : kept).push_back(in.shape()[i]);
    (reduce ? inner_strides : kept_strides).push_back(strides[i]);
  }
  StridedWalk<1> outer(kept, {kept_strides}), along(inner, {inner_strides});
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, result));
  const T* x = source.as<T>().data();
  T* y = out.as<T>().data();
  std::int64_t step_out = outer.inner_strides()[0], step_in = along.inner_strides()[0];
  auto one_result = [&](const T* from) {
    auto sum = Reduction::template start<T>();
    along.run(0, along.count(), [&](std::int64_t, const auto& offsets, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) Reduction::template add<T>(sum, from[offsets[0] + i * step_in]);
    });
    return Reduction::template finish<T>(sum, along.count());
  };
  // Chunks of results, sized by what goes into them.
  std::int64_t chunk = std::max<std::int64_t>(1, kElementsPerChunk / std::max<std::int64_t>(1, along.count()));
  auto chunks = static_cast<std::size_t>((outer.count() + chunk - 1) / chunk);
  parallel_for(threads, chunks, [&](std::size_t c) {
    std::int64_t begin = static_cast<std::int64_t>(c) * chunk;
    outer.run(begin, std::min(begin + chunk, outer.count()), [&](std::int64_t at, const auto& offsets, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) y[at + i] = one_result(x + offsets[0] + i * step_out);
    });
  });
  return std::move(out).take().cast(in.dtype());
}

template <class Reduction>
Result<std::vector<Tensor>> evaluate_reduce(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::vector<std::size_t> axes, resolved_axes(in.shape(), call.attrs.integers("dims")));
  return visit_compute<true>(compute_dtype(in.dtype()), [&](auto tag) {
    return one_tensor(reduced<Reduction, typename decltype(tag)::type>(in, axes, call.outputs[0].shape, call.threads));
  });
}

double one_per_input_element(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) {
  return volume(inputs[0].shape);
}

// ---- device level

Result<std::vector<ValueType>> infer_device_reduce(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(Shape shape, common_device_shape(call.inputs));
  const std::string& dim = call.attrs.text("dim");
  if (dim == "z") {
    std::int64_t group = call.attrs.integer("z") == 0 ? shape[1] : call.attrs.integer("z");
    if (group < 1 || shape[1] % group != 0) return shape_error(cat("z = ", shape[1], " slices cannot be reduced in groups of ", group));
    shape[1] /= group;
  } else {
    shape[dim == "r" ? 2 : 3] = graph::kTileSide;
  }
  return one(dtype, std::move(shape));
}

// Puts (w, z, 1, c) into row 0 of a row of tiles, or (w, z, r, 1) into column 0 of a column of tiles.
Result<Tensor> in_first_line(const Tensor& line, const Shape& shape) {
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, shape));
  std::span<float> y = out.as<float>();
  std::fill(y.begin(), y.end(), 0.0f);
  std::span<const float> x = line.as<float>();
  std::vector<std::int64_t> strides = shape.strides();
  StridedWalk<1> walk(line.shape(), {strides});
  std::int64_t step = walk.inner_strides()[0];
  walk.run(0, walk.count(), [&](std::int64_t at, const auto& offsets, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) y[static_cast<std::size_t>(offsets[0] + i * step)] = x[static_cast<std::size_t>(at + i)];
  });
  return std::move(out).take();
}

Result<std::vector<Tensor>> evaluate_device_reduce(const EvaluateCall& call) {
  const std::string& dim = call.attrs.text("dim");
  const Shape& result = call.outputs[0].shape;
  Shape in = call.inputs[0].shape();
  if (dim == "z") {
    // Groups become an axis of their own.
    Shape grouped{in[0], result[1], in[1] / result[1], in[2] * in[3]};
    BUDA_ASSIGN(Tensor source, call.inputs[0].reshaped(grouped));
    BUDA_ASSIGN(Tensor out, (reduced<MaxOf, float>(source, {2}, result, call.threads)));
    return std::vector<Tensor>{std::move(out)};
  }
  std::size_t axis = dim == "r" ? 2 : 3;
  Shape line = in;
  line[axis] = 1;
  BUDA_ASSIGN(Tensor most, (reduced<MaxOf, float>(call.inputs[0].cast(DType::f32), {axis}, line, call.threads)));
  BUDA_ASSIGN(Tensor out, in_first_line(most, result));
  return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
}

OpDef reduce_op(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate) {
  return tensor_level_op("reduce", std::move(name), std::move(summary), {"x"},
                         {{"dims", AttrType::integers, std::vector<std::int64_t>{}, "axes, negative from the end; none: all", {}},
                          {"keep_dims", AttrType::boolean, true, "keep the reduced axes, with size 1", {}}},
                         infer_reduce, evaluate, one_per_input_element);
}

}  // namespace

std::vector<OpDef> reduce_ops() {
  OpDef device{.name = "reduce",
               .level = Level::device,
               .family = "reduce",
               .summary = "maximum along r, c or z; along r (c) it is in row (column) 0 of one row (column) of tiles, among zeros",
               .inputs = {"x"},
               .least_inputs = 1,
               .most_inputs = 1,
               .attrs = with_packer_attrs({device_attr("dim"), device_attr("type", "max"), device_attr("z", 0)}),
               .infer = infer_device_reduce,
               .evaluate = evaluate_device_reduce,
               .flops = one_per_input_element};
  return {reduce_op("reduce_sum", "sum along axes", evaluate_reduce<SumOf>),
          reduce_op("reduce_avg", "mean along axes", evaluate_reduce<MeanOf>),
          reduce_op("reduce_max", "maximum along axes", evaluate_reduce<MaxOf>),
          reduce_op("reduce_min", "minimum along axes", evaluate_reduce<MinOf>),
          reduce_op("reduce_prod", "product along axes", evaluate_reduce<ProductOf>),
          std::move(device)};
}

}  // namespace buda::ops
