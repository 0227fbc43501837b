// SPDX-License-Identifier: Apache-2.0
// Sums and sizes of a tensor's numbers.
#include <buda/passes/formats/constant_signs.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/values/tile_count.hpp>
#include <buda/tensor/formats/math_unit.hpp>
#include <buda/tensor/formats/visit.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace buda::passes {
namespace {

constexpr std::size_t kMaxSampled = 1u << 20;
constexpr std::size_t kMaxCompared = 1u << 26;
constexpr std::int64_t kMaxLines = 64;
constexpr std::int64_t kMaxOfLine = 1 << 16;

double number(Boolean v) { return v ? 1 : 0; }
double number(Half v) { return to_float(v); }
double number(BFloat16 v) { return to_float(v); }
template <class T>
double number(T v) {
  return static_cast<double>(v);
}

// Calls see(i, number) for number `first`, and every `step`-th after it, `count` in all. Weights may lie unaligned in the model's file.
template <class See>
void for_numbers(const Tensor& t, std::int64_t first, std::int64_t step, std::int64_t count, See see) {
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const char* bytes = t.bytes().data();
    for (std::int64_t i = 0; i < count; ++i) {
      T v;
      std::memcpy(&v, bytes + static_cast<std::size_t>(first + i * step) * sizeof(T), sizeof(T));
      see(number(v));
    }
  });
}

// Numbers summed with and without their signs.
struct SignedSum {
  double sum = 0, sizes = 0;
  std::int64_t others_than_zero = 0;

  void add(double v) {
    if (!std::isfinite(v)) return;
    sum += v;
    sizes += std::abs(v);
    others_than_zero += v != 0 ? 1 : 0;
  }
  double coherence() const { return sizes == 0 ? 0 : std::abs(sum) / sizes; }
};

bool has_bits_beyond(double v, std::uint32_t read) {
  // As a Float16_b, the format of most weights.
  const auto rounded = std::bit_cast<float>((std::bit_cast<std::uint32_t>(static_cast<float>(v)) + 0x8000u) & 0xffff0000u);
  return masked_bits(rounded, read) != rounded;
}

}  // namespace

NumberSigns signs_of(const Tensor& t) {
  NumberSigns out;
  if (t.size() == 0) return out;
  const auto size = static_cast<std::int64_t>(t.size());
  const std::int64_t step = ceil_div(size, static_cast<std::int64_t>(kMaxSampled));
  SignedSum all;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  bool finite = true;
  for_numbers(t, 0, step, ceil_div(size, step), [&](double v) {
    all.add(v);
    finite = finite && std::isfinite(v);
    least = std::min(least, v);
    most = std::max(most, v);
  });
  out.coherence = all.coherence();
  if (step == 1 && finite) out.range = {least, most, true};
  return out;
}

LineSigns lines_of(const Tensor& t, bool along_columns) {
  LineSigns out;
  const Shape& shape = t.shape();
  const std::int64_t cols = shape.rank() == 0 ? 1 : shape[shape.rank() - 1], rows = shape.rank() < 2 ? 1 : shape[shape.rank() - 2];
  if (t.size() == 0) return out;
  const std::int64_t matrices = static_cast<std::int64_t>(t.size()) / (rows * cols);
  const std::int64_t length = along_columns ? cols : rows, lines = (along_columns ? rows : cols) * matrices;
  const std::int64_t line_step = ceil_div(lines, kMaxLines), step = ceil_div(length, kMaxOfLine), seen = ceil_div(length, step);
  double squares = 0;
  std::int64_t looked_at = 0, most = 0;
  for (std::int64_t line = 0; line < lines; line += line_step) {
    SignedSum sum;
    const std::int64_t first = along_columns ? line * cols : line / cols * rows * cols + line % cols;
    for_numbers(t, first, (along_columns ? 1 : cols) * step, seen, [&](double v) {
      sum.add(v);
      out.beyond_left = out.beyond_left || has_bits_beyond(v, kMultiplierB.high);
      out.beyond_right = out.beyond_right || has_bits_beyond(v, kMultiplierA.high);
    });
    squares += sum.coherence() * sum.coherence();
    most = std::max(most, sum.others_than_zero);
    ++looked_at;
  }
  out.coherence = std::sqrt(squares / static_cast<double>(looked_at));
  out.density = static_cast<double>(most * step) / static_cast<double>(graph::tiled_side(length));
  out.density = std::min(out.density, 1.0);
  return out;
}

std::optional<float> only_factor(const Tensor& t) {
  if (t.size() == 0 || t.size() > kMaxCompared || t.dtype() != DType::f32) return std::nullopt;
  const std::vector<float> numbers = t.to_f32();
  const bool same = std::all_of(numbers.begin(), numbers.end(), [&](float v) { return v == numbers[0]; });
  return same ? std::optional(numbers[0]) : std::nullopt;
}

std::int64_t most_picks(const Tensor& selection, std::int64_t slices) {
  const Shape& shape = selection.shape();
  const std::int64_t cols = shape.rank() == 0 ? 1 : shape[shape.rank() - 1],
                     rows = static_cast<std::int64_t>(selection.size()) / std::max<std::int64_t>(cols, 1);
  if (selection.size() == 0 || slices <= 0) return 0;
  std::vector<std::int64_t> picked(static_cast<std::size_t>(cols * slices), 0);
  std::int64_t i = 0;
  for_numbers(selection, 0, 1, rows * cols, [&](double v) {
    if (v != 0) ++picked[static_cast<std::size_t>(i / cols % slices * cols + i % cols)];
    ++i;
  });
  return *std::max_element(picked.begin(), picked.end());
}

}  // namespace buda::passes
