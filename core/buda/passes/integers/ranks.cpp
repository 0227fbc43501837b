// SPDX-License-Identifier: Apache-2.0
// Ranks of the elements of lines.
#include <buda/passes/integers/ranks.hpp>

#include <buda/base/checked.hpp>
#include <buda/passes/integers/digits.hpp>
#include <buda/passes/integers/room.hpp>

#include <numeric>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

using graph::ValueRef;

// Tiles of all comparisons, and of columns that a core makes of lines, where these are in order and where they are not (of the small L1 of
// devices without Float32).
constexpr std::int64_t kMaxTiles = 2048, kMaxHeldInOrder = 96, kMaxHeld = 48, kMaxHeldSmall = 32;

// The axes of a line last, and all others one.
struct Lines {
  Shape shape;  // of x
  std::size_t axis = 0;
  std::int64_t size = 0, given = 0;
  std::int64_t count = 0;  // with lines of zeros behind, where that lets rows of cores share them

  explicit Lines(const IntegerStep& s)
      : shape(s.type(0).shape),
        axis(*shape.axis(s.attrs().integer("dim"))),
        size(shape[axis]),
        given(elements_of(shape) / std::max<std::int64_t>(size, 1)),
        count(given > kRowsOfCores ? align_up<std::int64_t>(given, kRowsOfCores) : given) {}

  bool is_last() const { return axis + 1 == shape.rank(); }

  ValueRef of(ops::Builder& b, ValueRef x) const {
    if (!is_last()) x = b.op("transpose", {x}, {{"perm", order()}});
    x = b.reshape(x, Shape{given, size});
    if (count == given) return x;
    return b.pad(x, {0, 0}, {count - given, 0});
  }
  // Lines of k elements at their place in the result.
  ValueRef back(ops::Builder& b, ValueRef x, std::int64_t k) const {
    std::vector<std::int64_t> sizes(shape.begin(), shape.end());
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    sizes.push_back(k);
    if (count != given) x = b.slice(x, 0, 0, given);
    x = b.reshape(x, Shape(sizes));
    if (is_last()) return x;
    std::vector<std::int64_t> perm(shape.rank());
    const std::vector<std::int64_t> forth = order();
    for (std::size_t i = 0; i < perm.size(); ++i) perm[static_cast<std::size_t>(forth[i])] = static_cast<std::int64_t>(i);
    return b.op("transpose", {x}, {{"perm", perm}});
  }

 private:
  std::vector<std::int64_t> order() const {
    std::vector<std::int64_t> out(shape.rank());
    std::iota(out.begin(), out.end(), 0);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
    out.push_back(static_cast<std::int64_t>(axis));
    return out;
  }
};

// [lines, 1, elements]: how many elements of the line come before each.
ValueRef ranks(ops::Builder& b, DigitBuilder& d, const Digits& x, const Lines& lines, bool smallest) {
  const std::int64_t n = lines.size;
  auto turned = [&](const Shape& shape) {
    const ValueRef high = b.reshape(x.high, shape);
    return Digits{high, b.reshape(x.low, shape)};
  };
  // A column is what comes before, a row what it is compared with.
  const Digits other = turned(Shape{lines.count, n, 1});
  const Digits own = turned(Shape{lines.count, 1, n});
  std::vector<std::int32_t> earlier;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) earlier.push_back(j < i ? 1 : 0);
  const ValueRef is_earlier = b.constant(Shape{1, n, n}, std::move(earlier));
  const ValueRef is_beyond = d.as_number(smallest ? d.less(other, own) : d.less(own, other));
  const ValueRef is_same = d.as_number(d.equal(other, own));
  const ValueRef comes_first = b.multiply(is_same, is_earlier);
  const ValueRef before = b.add(is_beyond, comes_first);
  return b.op("reduce_sum", {before}, {{"dims", std::vector<std::int64_t>{1}}, {"keep_dims", true}});
}

}  // namespace

bool has_room_for_ranks(const IntegerStep& s) {
  const Lines lines(s);
  if (lines.size < 1 || lines.count < 1) return false;
  const std::int64_t side = ceil_div<std::int64_t>(lines.size, 32), held = side * lines_of_a_core(lines.count);
  const bool is_small = s.limits().result <= s.limits().operand;
  return side <= kMaxTiles / side / lines.count && held <= (lines.is_last() ? kMaxHeldInOrder : is_small ? kMaxHeldSmall : kMaxHeld);
}

Exactness top_by_ranks(IntegerStep& s) {
  const Lines lines(s);
  const std::int64_t k = s.attrs().integer("k");
  const bool smallest = !s.attrs().boolean("largest");
  return s.by_pair(s.range(0), {0, std::max<std::int64_t>(lines.size - 1, 0)}, [&](ops::Builder& b, DigitBuilder& d) {
    const Digits whole = s.split(0, b);
    const ValueRef all_high = lines.of(b, whole.high);
    const Digits x{all_high, lines.of(b, whole.low)};
    const ValueRef rank = ranks(b, d, x, lines, smallest);
    std::vector<std::int32_t> wanted(static_cast<std::size_t>(k)), numbers(static_cast<std::size_t>(lines.size));
    std::iota(wanted.begin(), wanted.end(), 0);
    std::iota(numbers.begin(), numbers.end(), 0);
    const ValueRef place = b.constant(Shape{1, k, 1}, std::move(wanted));
    const ValueRef hit = d.as_number(b.op("equal", {rank, place}));
    auto taken = [&](ValueRef column) { return lines.back(b, b.op("matmul", {hit, column}), k); };
    const ValueRef high = taken(b.reshape(x.high, Shape{lines.count, lines.size, 1}));
    const ValueRef low = taken(b.reshape(x.low, Shape{lines.count, lines.size, 1}));
    const ValueRef places = taken(b.constant(Shape{1, lines.size, 1}, std::move(numbers)));
    return std::pair{Digits{high, low}, converted(b, places, DType::i64)};
  });
}

}  // namespace buda::passes
