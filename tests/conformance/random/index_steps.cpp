// SPDX-License-Identifier: Apache-2.0
// Searches, running sums, reductions, gathers, scatters, one-hot, cache writes and movement of integers and booleans.
#include "integer_pool.hpp"

#include <algorithm>
#include <numeric>

namespace buda::trial {
namespace {

// With at least one axis.
Port with_axes(IntegerPool& pool) {
  const Port x = pool.integers();
  return pool.growing().shape(x).rank() > 0 ? x : pool.source(pool.growing().any_shape(), pool.any_integer_type());
}

std::size_t from_front(const Shape& shape, std::int64_t axis) { return *shape.axis(axis); }

// Different numbers of 0…size-1, some of them counted from the end.
std::vector<std::int64_t> different_places(Growing& g, std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) std::swap(all[i], all[i + g.pick(all.size() - i)]);
  all.resize(static_cast<std::size_t>(count));
  if (g.chance(30))
    for (std::int64_t& v : all) v -= g.chance(50) ? size : 0;
  return all;
}

constexpr const char* kReductions[] = {"none", "none", "none", "add", "mul", "max", "min"};

void gather_nd_step(IntegerPool& pool, Port x) {
  Growing& g = pool.growing();
  const Shape shape = g.shape(x);
  const std::size_t named = 1 + g.pick(shape.rank());
  const std::int64_t rows = g.between(1, 11);
  std::vector<std::int64_t> at;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::size_t k = 0; k < named; ++k) at.push_back(g.between(g.chance(20) ? -shape[k] : 0, shape[k] - 1));
  Tensor indices(Shape{rows, static_cast<std::int64_t>(named)}, std::move(at));
  const std::int64_t largest = *std::max_element(shape.begin(), shape.end());
  g.op("gather_nd", {x, pool.source(indices.cast(pool.any_index_type()), -largest, largest - 1)});
}

// Rows of a table by run-time indices, as many rows as caches and vocabularies have.
void long_gather(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kRows[] = {97, 257, 1021, 2053, 4096};
  const std::int64_t rows = g.one_of(kRows);
  const Port table = pool.source(Shape{rows, g.between(1, 9)}, pool.any_integer_type());
  g.op("gather", {table, pool.places(Shape{g.between(1, 17)}, rows)}, {{"dim", std::int64_t{0}}});
}

void gather_elements_step(IntegerPool& pool, Port x) {
  Growing& g = pool.growing();
  Shape shape = g.shape(x);
  const std::int64_t axis = g.any_axis(g.value(x));
  const std::size_t at = from_front(shape, axis);
  const std::int64_t size = shape[at];
  shape[at] = g.chance(50) ? size : g.between(1, 9);
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != at && g.chance(20)) shape[i] = g.between(1, shape[i]);
  g.op("gather_elements", {x, pool.places(shape, size)}, {{"dim", axis}});
}

void scatter_elements_step(IntegerPool& pool, Port x) {
  Growing& g = pool.growing();
  Shape shape = g.shape(x);
  const std::int64_t axis = g.any_axis(g.value(x));
  const std::size_t at = from_front(shape, axis);
  const std::int64_t size = shape[at], count = g.between(1, std::min<std::int64_t>(size, 9));
  const std::string reduction = g.one_of(kReductions);
  const std::vector<std::int64_t> places = different_places(g, size, count);
  shape[at] = count;
  // The same places on every line, so that no two updates meet.
  std::vector<std::int64_t> indices(static_cast<std::size_t>(*shape.volume()));
  const std::int64_t stride = shape.strides()[at];
  for (std::size_t i = 0; i < indices.size(); ++i)
    indices[i] = places[static_cast<std::size_t>(static_cast<std::int64_t>(i) / stride % count)];
  const Port index = pool.source(Tensor(shape, std::move(indices)).cast(pool.any_index_type()), -size, size - 1);
  g.op("scatter_elements", {x, index, pool.source(shape, g.dtype(x))}, {{"dim", axis}, {"reduction", reduction}});
}

// Rows of a cache by their numbers.
void cache_write(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kRows[] = {7, 17, 33, 67, 257, 1031};
  const std::int64_t rows = g.one_of(kRows), columns = g.between(1, 33), count = g.between(1, 5);
  const DType dtype = pool.any_integer_type();
  const Port cache = pool.source(Shape{rows, columns}, dtype);
  const Port updates = pool.source(Shape{count, columns}, dtype);
  Tensor numbers(Shape{count, 1}, different_places(g, rows, count));
  if (g.chance(60)) {
    const Port at = pool.source(numbers.cast(pool.any_index_type()), -rows, rows - 1);
    g.op("scatter_nd", {cache, at, updates}, {{"reduction", std::string(g.one_of(kReductions))}});
    return;
  }
  // The same as a selection: the row whose number is equal to the position.
  std::vector<std::int64_t> iota(static_cast<std::size_t>(rows));
  std::iota(iota.begin(), iota.end(), 0);
  const Port position = g.input(pool.numbers(Shape{1, 1}, DType::i64, 0, rows - 1), Promise{0, rows - 1});
  auto here = g.op("equal", {g.constant(Tensor(Shape{rows, 1}, std::move(iota))), position});
  if (here) g.op("where", {*here, pool.source(Shape{1, columns}, dtype), cache});
}

void scatter_nd_step(IntegerPool& pool, Port x) {
  Growing& g = pool.growing();
  const Shape shape = g.shape(x);
  const std::size_t named = g.chance(60) ? 1 : 1 + g.pick(shape.rank());
  std::int64_t places = 1;
  Shape updates;
  for (std::size_t i = 0; i < named; ++i) places *= shape[i];
  const std::int64_t count = g.between(1, std::min<std::int64_t>(places, 9));
  updates.push_back(count);
  for (std::size_t i = named; i < shape.rank(); ++i) updates.push_back(shape[i]);
  std::vector<std::int64_t> at;
  for (std::int64_t place : different_places(g, places, count)) {
    place = place < 0 ? place + places : place;
    std::vector<std::int64_t> row(named);
    for (std::size_t i = named; i-- > 0; place /= shape[i]) row[i] = place % shape[i];
    at.insert(at.end(), row.begin(), row.end());
  }
  Tensor indices(Shape{count, static_cast<std::int64_t>(named)}, std::move(at));
  const std::int64_t largest = *std::max_element(shape.begin(), shape.end());
  const Port index = pool.source(indices.cast(pool.any_index_type()), 0, largest - 1);
  g.op("scatter_nd", {x, index, pool.source(updates, g.dtype(x))}, {{"reduction", std::string(g.one_of(kReductions))}});
}

void one_hot_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kDepths[] = {2, 3, 7, 10, 31, 33, 100, 257, 2053};
  const std::int64_t depth = g.one_of(kDepths);
  Shape shape = g.any_shape();
  while (shape.rank() > 2 || *shape.volume() > 33) shape = g.any_shape();
  const Port indices = pool.places(shape, depth);
  const DType dtype = g.chance(30) ? DType::boolean : pool.any_integer_type();
  const Tensor values = g.chance(60) || dtype == DType::boolean ? Tensor(Shape{2}, std::vector<std::int64_t>{0, 1}).cast(dtype)
                                                                : pool.numbers(Shape{2}, dtype);
  g.op("one_hot", {indices, g.constant(values)}, {{"depth", depth}, {"dim", g.between(-1, static_cast<std::int64_t>(shape.rank()))}});
}

// argmax over as many numbers as a vocabulary has; integers, since floats tie in the chip's formats.
void long_search(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr std::int64_t kSizes[] = {2049, 4099, 32000};
  const Port x = pool.source(Shape{g.between(1, 2), g.one_of(kSizes)}, pool.any_integer_type());
  g.op(g.chance(70) ? "argmax" : "argmin", {x}, {{"dim", std::int64_t{-1}}, {"last", g.chance(30)}});
}

}  // namespace

void search_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kReduces[] = {"reduce_sum", "reduce_max", "reduce_min"};
  if (g.chance(6)) return long_search(pool);
  const Port x = with_axes(pool);
  const std::int64_t axis = g.any_axis(g.value(x));
  switch (g.pick(5)) {
    case 0:
    case 1:
      g.op(g.chance(60) ? "argmax" : "argmin", {x}, {{"dim", axis}, {"last", g.chance(30)}, {"keep_dims", g.chance(60)}});
      return;
    case 2:
      g.op("topk", {x}, {{"dim", axis}, {"k", g.between(1, g.shape(x)[from_front(g.shape(x), axis)])}, {"largest", g.chance(70)}});
      return;
    case 3:
      g.op("cumsum", {x}, {{"dim", axis}, {"exclusive", g.chance(30)}, {"reverse", g.chance(30)}});
      return;
    default:
      g.op(g.one_of(kReduces), {x}, {{"dims", std::vector<std::int64_t>{axis}}, {"keep_dims", g.chance(60)}});
  }
}

void index_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  switch (g.pick(9)) {
    case 0:
      return long_gather(pool);
    case 1:
      return cache_write(pool);
    case 2:
      return one_hot_step(pool);
    default:
      break;
  }
  const Port x = with_axes(pool);
  switch (g.pick(6)) {
    case 0:
      return gather_nd_step(pool, x);
    case 1:
      return gather_elements_step(pool, x);
    case 2:
      return scatter_elements_step(pool, x);
    case 3:
      return scatter_nd_step(pool, x);
    default: {
      const std::int64_t axis = g.any_axis(g.value(x));
      const Shape shape = g.chance(60) ? Shape{g.between(1, 13)} : Shape{g.between(1, 3), g.between(1, 5)};
      g.op("gather", {x, pool.places(shape, g.shape(x)[from_front(g.shape(x), axis)])}, {{"dim", axis}});
    }
  }
}

void movement_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  const Port x = with_axes(pool);
  const Shape shape = g.shape(x);
  const std::size_t rank = shape.rank();
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  switch (g.pick(5)) {
    case 0:
      for (std::size_t i = 0; i + 1 < rank; ++i) std::swap(order[i], order[i + g.pick(rank - i)]);
      g.op("transpose", {x}, {{"perm", order}});
      return;
    case 1:
      g.op("reshape", {x}, {{"shape", g.chance(50) ? std::vector<std::int64_t>{-1} : std::vector<std::int64_t>{-1, shape[rank - 1]}}});
      return;
    case 2: {
      const std::size_t axis = g.pick(rank);
      const std::int64_t start = g.between(0, shape[axis] - 1), stop = g.between(start + 1, shape[axis]);
      using Axes = std::vector<std::int64_t>;
      g.op("slice", {x},
           {{"dims", Axes{static_cast<std::int64_t>(axis)}},
            {"starts", Axes{start}},
            {"stops", Axes{stop}},
            {"steps", Axes{g.between(1, 3)}}});
      return;
    }
    case 3: {
      auto other = g.some([&](const Tensor& t) { return t.dtype() == g.dtype(x) && t.shape() == shape; });
      g.op("concatenate", {x, other && *other != x ? *other : pool.source(shape, g.dtype(x))}, {{"dim", g.any_axis(g.value(x))}});
      return;
    }
    default:
      g.op("tile", {x}, {{"repeats", std::vector<std::int64_t>(rank, 1 + static_cast<std::int64_t>(g.pick(2)))}});
  }
}

}  // namespace buda::trial
