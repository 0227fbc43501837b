// SPDX-License-Identifier: Apache-2.0
// How far numbers may be from exact arithmetic because of the formats that they pass through.
#pragma once

#include "array.hpp"

#include <buda/netlist/model/op_types.hpp>
#include <buda/tensor/data_format.hpp>

namespace buda::judge {

// exact: the device's formats; fp32: floats of 32 bits everywhere, so that only the order of summation is open.
enum class Precision : std::uint8_t { exact, fp32 };

// The largest relative error of one rounding to the destination register's width.
double dest_unit(Precision p, DataFormat acc, DataFormat out);
// Numbers below this may become zero there.
double dest_smallest(Precision p, DataFormat acc, DataFormat out);
// Sums beyond this may be cut to the largest number there.
double dest_largest(Precision p, DataFormat acc, DataFormat out);
// The relative error of a product: which bits of the operands its phases leave out.
double product_unit(Precision p, netlist::MathFidelity fidelity);

// Adds to each error what a buffer of this format may change, and brings integers and saturated numbers into its range.
void pack(Precision p, DataFormat format, Array& a);

// Whether `actual` is what was expected. Infinite errors mean that nothing is known.
bool agrees(DataFormat format, double expected, double error, double actual);

}  // namespace buda::judge
