// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace buda::io {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

// Of an open file from where it stands, likewise, with a zero at the end; false where it cannot be read. Fit for a handler of signals: it
// takes no memory.
bool sha256_hex_of_file(int descriptor, std::array<char, 65>& digits) noexcept;

}  // namespace buda::io
