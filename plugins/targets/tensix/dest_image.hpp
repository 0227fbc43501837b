// SPDX-License-Identifier: Apache-2.0
// What the destination register holds, as a chip's debugger reads it: 1024 rows of 16 words of 16 bits, low byte first.
//
// A word has sign, mantissa and exponent in this order. A number of 32 bits takes a row and the one 8 rows behind it: the first has its
// sign, 7 bits of its mantissa and its exponent, the second the rest, which a chip shows only where a number of 16 bits was before. Rows
// that were cleared are 0.
#pragma once

#include "dest_forms.hpp"
#include "registers.hpp"

#include <string>

namespace buda::tensix {

std::string dest_image(const DestRegister& dest, const DestForms& forms);

}  // namespace buda::tensix
