// SHA-256 of bytes.
#pragma once

#include <string>
#include <string_view>

namespace buda::io {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace buda::io
