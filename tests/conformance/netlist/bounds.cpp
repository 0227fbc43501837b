// SPDX-License-Identifier: Apache-2.0
// Half and whole units of the last place, from the widths of formats (docs/formats/tiles.md).
#include "bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::judge {
namespace {

bool half_precision(DataFormat acc, DataFormat out) {
  const DataFormat f = acc == DataFormat::invalid ? out : acc;
  return !is_integer(f) && f != DataFormat::float32 && f != DataFormat::tf32;
}
bool family_a(DataFormat acc, DataFormat out) { return exponent_family(acc == DataFormat::invalid ? out : acc) == ExponentFamily::a; }

// What a magnitude of `bits` bits is apart from the next, relative to the largest of its group.
double bfp_step(DataFormat f) { return std::ldexp(1.0, 1 - bfp_magnitude_bits(f)); }

void pack_bfp(DataFormat f, Array& a) {
  constexpr std::size_t kGroup = 16;
  const double step = bfp_step(f), least = exponent_family(f) == ExponentFamily::a ? 0x1p-14 : 0x1p-126;
  for (std::size_t row = 0; row < a.size() / a.cols; ++row)
    for (std::size_t c = 0; c < a.cols; c += kGroup) {
      const std::size_t begin = row * a.cols + c, end = begin + std::min(kGroup, a.cols - c);
      double most = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double size = std::fabs(a.value[i]) + a.error[i];
        // A NaN or an infinity takes its whole group along.
        most = std::isfinite(size) ? std::max(most, size) : std::numeric_limits<double>::infinity();
      }
      for (std::size_t i = begin; i < end; ++i) a.error[i] += most * step + least;
    }
}

void pack_integer(DataFormat f, Array& a) {
  double low = -2147483647.0, high = 2147483647.0;
  if (f == DataFormat::int8) low = -127, high = 127;
  if (f == DataFormat::uint8) low = 0, high = 255;
  if (f == DataFormat::uint16) low = 0, high = 65535;
  if (f == DataFormat::raw_uint8 || f == DataFormat::raw_uint16 || f == DataFormat::raw_uint32) return;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool whole = a.error[i] == 0 && a.value[i] == std::round(a.value[i]);
    a.value[i] = std::clamp(a.value[i], low, high);
    if (!whole) a.error[i] += 1.0;
  }
}

}  // namespace

double dest_unit(Precision p, DataFormat acc, DataFormat out) {
  if (p == Precision::fp32 || !half_precision(acc, out)) return 0x1p-23;
  return family_a(acc, out) ? 0x1p-11 : 0x1p-8;
}

double dest_smallest(Precision p, DataFormat acc, DataFormat out) {
  return p == Precision::exact && half_precision(acc, out) && family_a(acc, out) ? 0x1p-14 : 0x1p-126;
}

double dest_largest(Precision p, DataFormat acc, DataFormat out) {
  return p == Precision::exact && half_precision(acc, out) && family_a(acc, out) ? 65504 : std::numeric_limits<float>::max();
}

double product_unit(Precision p, netlist::MathFidelity fidelity) {
  using netlist::MathFidelity;
  if (p == Precision::fp32) return 0x1p-23;
  switch (fidelity) {
    case MathFidelity::lofi:
      return 0x1p-4 + 0x1p-6;
    case MathFidelity::hifi2:
      return 0x1p-6 + 0x1p-9;
    case MathFidelity::hifi2_b:
      return 0x1p-4 + 0x1p-10;
    case MathFidelity::hifi3:
    case MathFidelity::hifi4:
      break;
  }
  return 0x1p-8;
}

void pack(Precision p, DataFormat f, Array& a) {
  if (a.error.empty()) a.error.resize(a.size());
  if (is_integer(f)) return pack_integer(f, a);
  // Numbers too small for a normal one may become zero.
  double relative = 0, least = 0x1p-126;
  if (p == Precision::fp32 || f == DataFormat::float32 || f == DataFormat::tf32) {
    relative = 0x1p-23;
  } else if (is_bfp(f)) {
    return pack_bfp(f, a);
  } else if (f == DataFormat::float16_b) {
    relative = 0x1p-7;
  } else if (f == DataFormat::float16) {
    relative = 0x1p-10;
    least = 0x1p-14;
  } else {
    relative = 0x1p-2;
    least = 0x1p-14;
  }
  for (std::size_t i = 0; i < a.size(); ++i) a.error[i] += (std::fabs(a.value[i]) + a.error[i]) * relative + least;
}

bool agrees(DataFormat format, double expected, double error, double actual) {
  if (!std::isfinite(expected) || !std::isfinite(error)) return true;
  if (std::fabs(actual - expected) <= error) return true;
  // Beyond the largest number of a narrow exponent there is only that.
  const bool narrow = !is_integer(format) && exponent_family(format) == ExponentFamily::a;
  if (narrow && std::fabs(expected) + error > 50000 && std::fabs(actual) > 40000)
    return std::signbit(expected) == std::signbit(actual) || error > std::fabs(expected);
  return !std::isfinite(actual) && std::fabs(expected) + error > 1e38;
}

}  // namespace buda::judge
