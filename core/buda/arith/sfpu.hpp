// SPDX-License-Identifier: Apache-2.0
// Functions of the SFPU, exact to the last bit of a float (nearly always), on every machine the same.
#pragma once

#include <buda/netlist/model/op.hpp>

#include <cstdint>

namespace buda::arith::sfpu {

float exp(float x);
float log(float x);
float sqrt(float x);
float gelu(float x);             // x * Phi(x)
float gelu_derivative(float x);  // Phi(x) + x * phi(x)
float reciprocal(float x);
float sigmoid(float x);
float tanh(float x);
float sine(float x);
float cosine(float x);
float power(float x, std::int32_t exponent);

// Whether dropout with this seed keeps number `index` of input number `input`: a fixed function of both. (The hardware's generator depends
// on the order of execution within the cores.)
bool dropout_keeps(std::int32_t seed, double p, std::uint64_t index);

}  // namespace buda::arith::sfpu
