// SPDX-License-Identifier: Apache-2.0
// The elements of a dense constant.
#pragma once

#include "module.hpp"

#include <buda/io/bytes.hpp>

namespace buda::stablehlo {

// `text`, a part of `file`, is the content of the brackets of dense<…>: a number for all elements, nested lists, or "0x…".
// Fails with a plain message, to be said of a place in a file.
Result<Dense> parse_dense(std::string_view text, const Type& type, const io::Bytes& file);
// The elements' bytes in row-major order, little endian; those of a single element stand for all. Booleans have a byte or a bit each. Where
// they are as a tensor has them, it shares their memory.
Result<Dense> dense_of_bytes(io::Bytes bytes, const Type& type);
// The same, as hexadecimal digits in `file`. Many of them stay there as they are until somebody wants the elements.
Result<Dense> dense_of_hex(std::string_view digits, const Type& type, const io::Bytes& file);
// The list of an attribute array<i64: …>, or the integers of a dense constant.
Result<Dims> integers_of(const Attribute& attribute);

}  // namespace buda::stablehlo
