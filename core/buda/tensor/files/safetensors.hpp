// SPDX-License-Identifier: Apache-2.0
// The safetensors format: a JSON header and the bytes of all tensors, made for mapping into memory.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cstddef>
#include <string>

namespace buda {

// The limit that the format's own reader sets.
inline constexpr std::size_t kLargestSafetensorsHeader = 100'000'000;

// Tensors share the memory of the file. The data must be covered without gaps and overlaps, as the format demands.
Result<NamedTensors> parse_safetensors(const io::Bytes& bytes, const std::string& path);

// The header lists tensors by name and is padded to 8 bytes; data is laid out by falling element size, then name, so that every tensor
// is aligned.
Result<void> write_safetensors(io::OutputFile& out, const NamedTensors& tensors);

}  // namespace buda
