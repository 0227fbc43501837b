// SPDX-License-Identifier: Apache-2.0
// Growing graphs of integers at the borders of what chips and types hold.
#include "borders.hpp"

#include <buda/tensor/tensor.hpp>

#include "integer_pool.hpp"
#include "integers.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace buda::trial {
namespace {

// What operands, factors, digits, their products and halves end at on both kinds of chips, and where types end; numbers in between.
constexpr std::int64_t kBorders[] = {
    1,     2,     3,     7,     8,     13,     15,     16,      31,      32,      63,      64,       65,       100,        127,
    128,   150,   200,   254,   255,   256,    257,    302,     511,     512,     700,     1021,     1023,     1024,       1025,
    2000,  2047,  2048,  2049,  4095,  4096,   8159,   8160,    8161,    16319,   16320,   16321,    9999,     32767,      32768,
    50256, 65279, 65280, 65535, 65536, 523775, 523776, 1000000, 1047551, 1047552, 1047553, 16777215, 16777216, 2147483646, 2147483647};

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// A range that ends at a border on one or both sides, as far as the type goes.
Range any_range(Growing& g, DType dtype) {
  const auto [lowest, highest] = limits(dtype);
  const std::int64_t most = std::min(highest, g.one_of(kBorders) + g.between(-1, 1));
  if (lowest == 0 || g.chance(50)) return {g.chance(70) ? 0 : g.between(0, most), most};
  return {std::max(lowest, -(g.chance(60) ? most : g.one_of(kBorders) + g.between(-1, 1))), most};
}

// Its ends, their neighbours and borders inside are frequent.
std::int64_t any_number(Growing& g, const Range& r) {
  auto within = [&](std::int64_t v) { return v >= r.least && v <= r.most ? v : g.between(r.least, r.most); };
  switch (g.pick(4)) {
    case 0:
      return within((g.chance(50) ? r.least : r.most) + g.between(-2, 2));
    case 1:
      return within((g.chance(50) ? 1 : -1) * (g.one_of(kBorders) + g.between(-1, 1)));
    case 2:
      return within(g.between(-3, 5));
    default:
      return g.between(r.least, r.most);
  }
}

Tensor numbers(Growing& g, const Shape& shape, DType dtype, const Range& range) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(*shape.volume()));
  for (std::int64_t& v : values) v = any_number(g, range);
  return Tensor(shape, std::move(values)).cast(dtype);
}

// A promise is kept by each number, and not only by those that are drawn.
Port given(Growing& g, Tensor values, const Range& range) {
  if (g.chance(25)) return g.constant(std::move(values));
  return g.input(std::move(values), g.chance(90) ? std::optional<Promise>(Promise{range.least, range.most}) : std::nullopt);
}

Port given(Growing& g, const Shape& shape, DType dtype) {
  const Range range = any_range(g, dtype);
  return given(g, numbers(g, shape, dtype, range), range);
}

// Of any rank up to four, vectors and scalars among them.
Shape any_shape(Growing& g) { return g.chance(8) ? Shape{} : g.any_shape(); }

// Multiples of the divisors, and numbers next to them.
void division(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kDivisions[] = {"divide", "modulo", "remainder"};
  const DType dtype = pool.any_integer_type();
  const Range dividends = any_range(g, dtype);
  Range divisors = any_range(g, dtype);
  const bool is_single = g.chance(35);
  if (is_single) divisors = {divisors.most, divisors.most};
  if (g.chance(60)) divisors.least = std::max<std::int64_t>(divisors.least, std::min<std::int64_t>(1, divisors.most));
  const Shape shape = any_shape(g), other = is_single ? Shape{} : g.meeting_shape(shape);
  const Tensor by = numbers(g, other, dtype, divisors);
  const auto wide = by.cast(DType::i64);
  const auto choices = wide.as<std::int64_t>();
  std::vector<std::int64_t> values(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = any_number(g, dividends);
    const std::int64_t divisor = choices[i % choices.size()];
    if (divisor == 0 || g.chance(30)) continue;
    const std::int64_t near = values[i] / divisor * divisor + g.between(-1, 1);
    if (near >= dividends.least && near <= dividends.most) values[i] = near;
  }
  const Port x = given(g, Tensor(shape, std::move(values)).cast(dtype), dividends);
  g.op(g.one_of(kDivisions), {x, given(g, by, divisors)});
}

void arithmetic(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "greater_equal"};
  const DType dtype = pool.any_integer_type();
  const Shape shape = any_shape(g);
  auto found = g.some([&](const Tensor& t) { return is_integer(t.dtype()); });
  const Port x = found && g.chance(50) ? *found : given(g, shape, dtype);
  const Port y = given(g, g.meeting_shape(g.shape(x)), g.dtype(x));
  const bool swapped = g.chance(30);
  g.op(g.one_of(kOps), {swapped ? y : x, swapped ? x : y});
}

void selection(IntegerPool& pool) {
  Growing& g = pool.growing();
  const Port x = given(g, any_shape(g), pool.any_integer_type());
  if (g.chance(50)) {
    const Port y = given(g, g.meeting_shape(g.shape(x)), g.dtype(x));
    g.op("where", {pool.condition_for(g.shape(x)), x, y});
    return;
  }
  const Range bounds = any_range(g, g.dtype(x));
  graph::AttrMap attrs;
  if (g.chance(70)) attrs["min"] = static_cast<double>(bounds.least);
  if (attrs.empty() || g.chance(70)) attrs["max"] = static_cast<double>(bounds.most);
  g.op("clip", {x}, std::move(attrs));
}

void one_operand(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kOps[] = {"negative", "abs", "sign", "square", "relu", "bitwise_not"};
  auto found = g.some([&](const Tensor& t) { return is_integer(t.dtype()); });
  g.op(g.one_of(kOps), {found && g.chance(40) ? *found : given(g, any_shape(g), pool.any_integer_type())});
}

void conversion(IntegerPool& pool) {
  Growing& g = pool.growing();
  auto found = g.some([&](const Tensor& t) { return is_integer(t.dtype()); });
  const Port x = found && g.chance(50) ? *found : given(g, any_shape(g), pool.any_integer_type());
  auto y = g.op("cast", {x}, {{"dtype", std::string(dtype_name(pool.any_integer_type()))}});
  if (y && g.chance(50)) g.op("cast", {*y}, {{"dtype", std::string(dtype_name(pool.any_integer_type()))}});
}

// Bits, and shifts by less than the type's width.
void bits(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kOps[] = {"bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right"};
  const DType dtype = pool.any_integer_type();
  const Port x = given(g, any_shape(g), dtype);
  const std::string op = g.one_of(kOps);
  const auto width = static_cast<std::int64_t>(8 * dtype_size(dtype));
  if (!op.starts_with("shift")) {
    g.op(op, {x, given(g, g.meeting_shape(g.shape(x)), dtype)});
    return;
  }
  const Range places{0, g.chance(50) ? width - 1 : std::min<std::int64_t>(width - 1, 5)};
  const Shape shape = g.chance(50) ? Shape{} : g.meeting_shape(g.shape(x));
  g.op(op, {x, given(g, numbers(g, shape, dtype, places), places)});
}

void reduction(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kOps[] = {"reduce_sum", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "cumsum", "cumsum"};
  const Port x = given(g, g.any_shape(), pool.any_integer_type());
  const std::string op = g.one_of(kOps);
  const std::int64_t axis = g.any_axis(g.value(x));
  if (op == "cumsum") {
    g.op(op, {x}, {{"dim", axis}, {"exclusive", g.chance(30)}, {"reverse", g.chance(30)}});
    return;
  }
  std::vector<std::int64_t> dims{axis};
  if (g.chance(20)) {
    dims.resize(g.shape(x).rank());
    std::iota(dims.begin(), dims.end(), 0);
  }
  g.op(op, {x}, {{"dims", dims}, {"keep_dims", g.chance(60)}});
}

// Numbers of which as many as there are still add up to what Float32 holds.
void long_sum(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kLengths[] = {97, 255, 1000, 2053, 4099, 8191, 20011};
  const std::int64_t length = g.one_of(kLengths), others = g.between(1, 3);
  const std::int64_t most = std::min<std::int64_t>(g.one_of(kBorders), g.chance(70) ? 16777215 / length : 1025);
  const Range range{g.chance(60) ? 0 : -most, most};
  const bool is_last = g.chance(60);
  const Shape shape = is_last ? Shape{others, length} : Shape{length, others};
  const Port x = given(g, numbers(g, shape, pool.any_index_type(), range), range);
  g.op("reduce_sum", {x}, {{"dims", std::vector<std::int64_t>{is_last ? 1 : 0}}, {"keep_dims", g.chance(60)}});
}

// Booleans: moved, picked, chosen, compared and reduced.
void truths(IntegerPool& pool) {
  Growing& g = pool.growing();
  using Axes = std::vector<std::int64_t>;
  Shape shape = g.any_shape();
  const Port x = pool.bools(shape);
  const std::int64_t axis = g.any_axis(g.value(x));
  const std::int64_t size = shape[*shape.axis(axis)];
  switch (g.pick(7)) {
    case 0:
      g.op("gather", {x, pool.places(Shape{g.between(1, 9)}, size)}, {{"dim", axis}});
      return;
    case 1:
      g.op("where", {pool.bools(g.meeting_shape(shape)), x, pool.bools(g.meeting_shape(shape))});
      return;
    case 2:
      g.op(g.chance(50) ? "reduce_max" : "reduce_min", {x}, {{"dims", Axes{axis}}, {"keep_dims", g.chance(60)}});
      return;
    case 3:
      g.op(g.chance(50) ? "equal" : "logical_xor", {x, pool.bools(g.meeting_shape(shape))});
      return;
    case 4:
      g.op("concatenate", {x, pool.bools(shape)}, {{"dim", axis}});
      return;
    case 5:
      g.op("gather_elements", {x, pool.places(shape, size)}, {{"dim", axis}});
      return;
    default: {
      auto y = g.op("cast", {x}, {{"dtype", std::string(dtype_name(pool.any_integer_type()))}});
      if (y)
        g.op(g.chance(50) ? "reduce_sum" : "multiply",
             g.chance(50) ? std::vector<Port>{*y} : std::vector<Port>{*y, given(g, g.meeting_shape(shape), g.dtype(*y))});
    }
  }
}

// Movements that the suite of integers does not draw: borders of a value, new axes, backwards.
void movement(IntegerPool& pool) {
  Growing& g = pool.growing();
  using Axes = std::vector<std::int64_t>;
  auto found = g.some([&](const Tensor& t) { return is_integer(t.dtype()) && t.shape().rank() > 0; });
  const Port x = found && g.chance(60) ? *found : given(g, g.any_shape(), pool.any_integer_type());
  const Shape shape = g.shape(x);
  const std::size_t axis = g.pick(shape.rank());
  switch (g.pick(4)) {
    case 0: {
      Axes before(shape.rank(), 0), after(shape.rank(), 0);
      before[axis] = g.between(0, 3);
      after[axis] = g.between(0, 3);
      g.op("pad", {x}, {{"before", before}, {"after", after}, {"value", static_cast<double>(any_number(g, any_range(g, g.dtype(x))))}});
      return;
    }
    case 1:
      g.op("slice", {x},
           {{"dims", Axes{static_cast<std::int64_t>(axis)}}, {"starts", Axes{-1}}, {"stops", Axes{-shape[axis] - 1}}, {"steps", Axes{-1}}});
      return;
    case 2:
      g.op("unsqueeze", {x}, {{"dims", Axes{g.between(0, static_cast<std::int64_t>(shape.rank()))}}});
      return;
    default: {
      Shape wide = shape;
      for (std::size_t i = 0; i < wide.rank(); ++i)
        if (wide[i] == 1 && g.chance(60)) wide[i] = g.between(1, 7);
      g.op("broadcast", {x}, {{"shape", Axes(wide.begin(), wide.end())}});
    }
  }
}

// Integers as floats on the way to a comparison.
void comparison_of_floats(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kOps[] = {"equal", "less", "greater_equal"};
  const DType dtype = pool.any_integer_type();
  const Range range = any_range(g, dtype);
  if (range.most > (1 << 24) || range.least < -(1 << 24)) return;
  const Port x = given(g, numbers(g, g.any_shape(), dtype, range), range);
  const Port y = given(g, numbers(g, g.meeting_shape(g.shape(x)), dtype, range), range);
  auto a = g.op("cast", {x}, {{"dtype", std::string("F32")}});
  auto b = g.op("cast", {y}, {{"dtype", std::string("F32")}});
  if (a && b) g.op(g.one_of(kOps), {*a, *b});
}

// Places along axes as long as what operands and digits hold.
void places(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kSizes[] = {2,    63,   64,   65,   127,  128,  129,  255,  256,  257, 1000,
                                            1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 5003};
  const std::int64_t size = g.one_of(kSizes), others = g.between(1, 7);
  const bool is_last = g.chance(60);
  const Shape shape = is_last ? Shape{others, size} : Shape{size, others};
  const std::int64_t dim = is_last ? 1 : 0;
  const Port x = given(g, shape, pool.any_integer_type());
  switch (g.pick(5)) {
    case 0:
      g.op(g.chance(50) ? "argmax" : "argmin", {x}, {{"dim", dim}, {"last", g.chance(30)}, {"keep_dims", g.chance(60)}});
      return;
    case 1:
      g.op("topk", {x}, {{"dim", dim}, {"k", g.between(1, std::min<std::int64_t>(size, 13))}, {"largest", g.chance(70)}});
      return;
    case 2:
      g.op("gather", {x, pool.places(Shape{g.between(1, 9)}, size)}, {{"dim", dim}});
      return;
    case 3: {
      const std::int64_t count = g.between(1, 9);
      g.op("gather_elements", {x, pool.places(is_last ? Shape{others, count} : Shape{count, others}, size)}, {{"dim", dim}});
      return;
    }
    default: {
      const DType dtype = pool.any_integer_type();
      const Tensor values =
          g.chance(50) ? Tensor(Shape{2}, std::vector<std::int64_t>{0, 1}).cast(dtype) : numbers(g, Shape{2}, dtype, any_range(g, dtype));
      g.op("one_hot", {pool.places(Shape{g.between(1, 13)}, size), g.constant(values)}, {{"depth", size}, {"dim", g.between(-1, 1)}});
    }
  }
}

// Products of factors as quantised models have them, and of larger ones.
Port factor(IntegerPool& pool, const Shape& shape, DType dtype) {
  static constexpr std::int64_t kFactors[] = {1, 2, 7, 15, 16, 31, 63, 127, 128, 255, 256, 511, 1023, 1024};
  Growing& g = pool.growing();
  const std::int64_t most = g.one_of(kFactors);
  const Range range{g.chance(40) ? 0 : -most, most};
  return given(g, numbers(g, shape, dtype, range), range);
}

void product(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kInner[] = {1, 2, 3, 8, 15, 16, 17, 31, 64, 65, 130, 515};
  const DType dtype = g.chance(50) ? DType::i32 : DType::i64;
  if (g.chance(20)) {
    const std::int64_t channels = g.between(1, 5);
    const Port x = factor(pool, Shape{1, channels, g.between(5, 9), g.between(5, 9)}, dtype);
    g.op("conv2d", {x, factor(pool, Shape{g.between(1, 9), channels, g.between(1, 3), g.between(1, 3)}, dtype)});
    return;
  }
  const std::int64_t inner = g.one_of(kInner);
  Shape left{g.between(1, 35), inner}, right{inner, g.between(1, 35)};
  if (g.chance(15)) left = Shape{g.between(2, 3), g.between(1, 35), inner};
  if (left.rank() == 3 && g.chance(50)) right = Shape{left[0], inner, g.between(1, 35)};
  if (g.chance(10)) right = Shape{inner};
  const Port x = factor(pool, left, dtype);
  g.op("matmul", {x, factor(pool, right, dtype)});
}

void border_step(IntegerPool& pool) {
  switch (pool.growing().pick(16)) {
    case 0:
    case 1:
    case 2:
      return division(pool);
    case 3:
    case 4:
      return arithmetic(pool);
    case 5:
      return selection(pool);
    case 6:
      return one_operand(pool);
    case 7:
      return conversion(pool);
    case 8:
      return bits(pool);
    case 9:
      return reduction(pool);
    case 10:
      return places(pool);
    case 11:
      return long_sum(pool);
    case 12:
      return truths(pool);
    case 13:
      return movement(pool);
    case 14:
      return comparison_of_floats(pool);
    default:
      return product(pool);
  }
}

}  // namespace

Recipe border_recipe(std::uint64_t seed) {
  IntegerPool pool(seed);
  Growing& g = pool.growing();
  constexpr int kMaxTrials = 20;
  const std::size_t wanted = 1 + g.pick(3);
  for (int i = 0; i < kMaxTrials && g.ops() < wanted; ++i) border_step(pool);
  return of_integers_only(g.finish());
}

}  // namespace buda::trial
