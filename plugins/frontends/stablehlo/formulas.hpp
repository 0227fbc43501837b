// SPDX-License-Identifier: Apache-2.0
// Functions as formulas of elementwise nodes, which several operations are made of.
#pragma once

#include "op_call.hpp"

namespace buda::stablehlo {

Number exponential(Number x);
Number logarithm(Number x);
Number square_root(Number x);
// e^x - 1 and ln(1 + x) without cancellation near 0.
Number exponential_minus_one(Number x);
Number log_plus_one(Number x);
// 1 - erf(x), with its digits where erf(x) is near 1.
Number erf_complement(Number x);
// A polynomial of x, its coefficients from the highest power down.
Number polynomial(Number x, std::span<const double> coefficients);

Complex operator+(Complex a, Complex b);
Complex operator-(Complex a, Complex b);
Complex operator*(Complex a, Complex b);
Complex operator/(Complex a, Complex b);
// |z|, without overflow where the parts are large.
Number magnitude(Complex z);
Number angle(Number y, Number x);
Complex exponential(Complex z);
Complex logarithm(Complex z);
Complex square_root(Complex z);
Complex negated(Complex z);
Complex conjugated(Complex z);
Complex times_i(Complex z);
// e^z for real parts and an angle.
Complex from_polar(Number radius, Number radians);

}  // namespace buda::stablehlo
