// SPDX-License-Identifier: Apache-2.0
// Bytes that are written as text, two hexadecimal digits each, the upper half first, as MLIR writes the elements of constants.
#pragma once

#include <string_view>

namespace buda {

// Whether all of it are digits, in pairs.
bool is_hex(std::string_view digits);

// Writes digits.size() / 2 bytes. Other text than is_hex allows gives bytes without a meaning.
void decode_hex(std::string_view digits, char* to);

}  // namespace buda
