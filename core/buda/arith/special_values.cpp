// SPDX-License-Identifier: Apache-2.0
// Which numbers of an op's output special values reach, and what takes the place of these numbers.
#include <buda/arith/special_values.hpp>

#include <buda/arith/parts.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

namespace buda::arith {
namespace {

constexpr std::uint32_t kSignBit = 0x80000000u;
constexpr std::size_t kSharedExponent = 16;  // numbers that share an exponent in Bfp formats

// What counts as special. The largest numbers of functions and results are, since what is rounded beyond them becomes infinite in
// different places; operands of sums and products are not, whose results show that. -0 means nothing to products.
enum class Place : std::uint8_t { operand, argument, result };

// By format, since 5 bits of exponent end earlier.
struct SpecialTest {
  std::uint32_t large;
  bool with_minus_zero;

  SpecialTest(DataFormat format, Place place) : with_minus_zero(place != Place::operand) {
    const bool narrow = exponent_family(format) == ExponentFamily::a;
    large = (narrow ? 127u + 16 : 255u) - (place == Place::operand ? 0 : 1);
  }

  bool operator()(float v) const {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    const std::uint32_t exponent = bits >> 23 & 255;
    return (exponent >= large) | ((exponent == 0) & (with_minus_zero ? bits != 0 : (bits & ~kSignBit) != 0));
  }
};

bool any_special(SpecialTest test, const float* begin, std::size_t count) {
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) found |= test(begin[i]);
  return found;
}

bool any_special(SpecialTest test, const Value& value, unsigned threads) {
  std::atomic<bool> found = false;
  in_parts(threads, value.floats.size(), 1, [&](std::size_t begin, std::size_t end) {
    if (!found.load(std::memory_order_relaxed) && any_special(test, value.floats.data() + begin, end - begin)) found = true;
  });
  return found;
}

using SpecialMarks = std::vector<std::uint8_t>;

void mark_places(SpecialTest test, const Value& value, SpecialMarks& marks) {
  for (std::size_t i = 0; i < value.floats.size(); ++i) marks[i] |= static_cast<std::uint8_t>(test(value.floats[i]));
}

// The rows of operand 0, and the columns of operand 1 and the bias.
void mark_product(const OpCall& call, std::size_t cols, SpecialMarks& marks) {
  const Value &a = *call.inputs[0], &b = *call.inputs[1];
  const std::size_t rows = a.rows(), z = std::max<std::size_t>(1, a.depth() * rows * cols / std::max<std::size_t>(marks.size(), 1));
  const SpecialTest left(a.format, Place::operand), right(b.format, Place::operand);
  for (std::size_t t = 0; t < a.depth(); ++t) {
    std::uint8_t* to = marks.data() + t / z * rows * cols;
    for (std::size_t r = 0; r < rows; ++r)
      if (any_special(left, a.floats.data() + t * a.matrix() + r * a.cols(), a.cols())) std::fill_n(to + r * cols, cols, std::uint8_t{1});
    SpecialMarks hit(cols);
    for (std::size_t i = 0; i < b.matrix(); ++i) hit[i % cols] |= static_cast<std::uint8_t>(right(b.floats[t * b.matrix() + i]));
    for (std::size_t i = 0; i < rows * cols; ++i) to[i] |= hit[i % cols];
  }
  for (std::size_t i = 2; i < call.inputs.size(); ++i)
    if (call.inputs[i]->floats.size() == marks.size()) {
      const Value& bias = *call.inputs[i];
      SpecialMarks hit(cols);
      for (std::size_t k = 0; k < bias.floats.size(); ++k)
        hit[k % cols] |= static_cast<std::uint8_t>(SpecialTest(bias.format, Place::operand)(bias.floats[k]));
      for (std::size_t k = 0; k < marks.size(); ++k) marks[k] |= hit[k % cols];
    }
}

// A number that shares an exponent with one that is replaced is replaced with it.
void spread_over_groups(SpecialMarks& marks) {
  for (std::size_t i = 0; i + kSharedExponent <= marks.size(); i += kSharedExponent) {
    const auto begin = marks.begin() + static_cast<std::ptrdiff_t>(i), end = begin + kSharedExponent;
    if (std::find(begin, end, 1) != end) std::fill(begin, end, std::uint8_t{1});
  }
}

// -0 keeps its meaning only where numbers are copied, compared or given to a function.
Place place_of_inputs(const netlist::Op& op, Reach reach) {
  const bool multiplies = reach == Reach::product || op.type == netlist::OpType::multiply || op.type == netlist::OpType::add ||
                          op.type == netlist::OpType::subtract;
  return multiplies ? Place::operand : Place::argument;
}

SpecialMarks special_marks(const OpCall& call, const Value& out, const Value& bits, Reach reach) {
  const Place inputs = place_of_inputs(call.op, reach);
  SpecialMarks marks(out.floats.size());
  if (reach == Reach::anything) {
    std::fill(marks.begin(), marks.end(), std::uint8_t{1});
    return marks;
  }
  mark_places(SpecialTest(out.format, Place::result), out, marks);
  if (call.previous) mark_places(SpecialTest(out.format, Place::result), *call.previous, marks);
  if (reach == Reach::product) {
    mark_product(call, out.cols(), marks);
  } else if (reach == Reach::chosen) {
    mark_places(SpecialTest(out.format, Place::result), bits, marks);
  } else {
    for (const ValuePtr& in : call.inputs)
      if (in->floats.size() == marks.size()) mark_places(SpecialTest(in->format, inputs), *in, marks);
  }
  if (is_bfp(out.format)) spread_over_groups(marks);
  return marks;
}

}  // namespace

Outcome corrected(const OpCall& call, Outcome computed, Outcome (*run)(const OpCall&), Reach reach) {
  auto* out = std::get_if<Value>(&computed);
  if (out == nullptr || out->integer()) return computed;
  if (call.op.attributes.identity) reach = Reach::anything;
  // Of integers only the sums can be special, once they are scaled.
  if (reach == Reach::product && call.inputs[0]->integer()) reach = Reach::place;
  const Place inputs = place_of_inputs(call.op, reach);
  bool found = any_special(SpecialTest(out->format, Place::result), *out, call.threads);
  for (const ValuePtr& in : call.inputs) found = found || any_special(SpecialTest(in->format, inputs), *in, call.threads);
  if (!found) return computed;
  OpCall again = call;
  again.mode = Mode::bits;
  const Outcome exactly = run(again);
  const auto* bits = std::get_if<Value>(&exactly);
  if (bits == nullptr) return computed;  // operands that only bits cannot bring together
  const SpecialMarks marks = special_marks(call, *out, *bits, reach);
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i] != 0) out->floats[i] = bits->floats[i];
  return computed;
}

void gemm_past_zeros(const Gemm& g, unsigned threads) {
  const auto has_none = [](const float* matrix, std::size_t rows, std::size_t cols, std::size_t ld) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c)
        if (!std::isfinite(matrix[r * ld + c])) return false;
    return true;
  };
  if (has_none(g.a, g.m, g.k, g.lda) && has_none(g.b, g.k, g.n, g.ldb)) return gemm(g, threads);
  in_parts(threads, g.m, std::max<std::size_t>(1, (std::size_t{1} << 18) / (g.k * g.n + 1)), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t p = 0; p < g.k; ++p) {
        const float factor = g.a[i * g.lda + p];
        if (factor == 0.0f) continue;
        for (std::size_t j = 0; j < g.n; ++j) {
          const float other = g.b[p * g.ldb + j];
          float& sum = g.c[i * g.ldc + j];
          if (other != 0.0f) sum = std::fma(factor, other, sum);
        }
      }
  });
}

}  // namespace buda::arith
