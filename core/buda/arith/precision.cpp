// SPDX-License-Identifier: Apache-2.0
// The math unit's roundings and bits, as a mode asks for them.
#include <buda/arith/precision.hpp>

#include <buda/tensor/formats/quantize.hpp>

namespace buda::arith {

DestRounding dest_rounding(Mode mode, DataFormat acc, DataFormat out) {
  return mode == Mode::fp32 ? DestRounding::none : buda::dest_rounding(acc, out);
}

void pack(Mode mode, DestRounding dest, DataFormat out, std::span<float> numbers, std::size_t cols) {
  if (mode == Mode::fp32 && is_float(out)) return;
  pack_from_dest(dest, out, numbers, cols);
}

void store(Mode mode, DataFormat out, std::span<float> numbers, std::size_t cols) {
  if (mode == Mode::fp32 && is_float(out)) return;
  quantize_to_format(numbers, cols == 0 ? 0 : numbers.size() / cols, cols, out);
}

int fraction_bits(DataFormat f) {
  if (is_bfp(f)) return bfp_magnitude_bits(f) - 1;
  if (f == DataFormat::float16_b) return 7;
  if (f == DataFormat::float32) return 23;
  return f == DataFormat::lf8 || f == DataFormat::fp8_e4m3 ? 2 : 10;
}

ProductBits phases(Mode mode, netlist::MathFidelity fidelity, DataFormat in0) {
  if (mode == Mode::fp32) return {};
  switch (fidelity) {
    case netlist::MathFidelity::lofi:
      return kLoFiProduct;
    case netlist::MathFidelity::hifi2:
      return kHiFi2Product;
    case netlist::MathFidelity::hifi2_b:
      return kHiFi2BProduct;
    case netlist::MathFidelity::hifi3:
      // A format without low bits has nothing for the third phase.
      return fraction_bits(in0) > 6 ? kHiFi3Product : kHiFi2Product;
    case netlist::MathFidelity::hifi4:
      break;
  }
  return kHiFi4Product;
}

}  // namespace buda::arith
