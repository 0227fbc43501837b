// SPDX-License-Identifier: Apache-2.0
// Element types of tensors on the host, as ONNX, NumPy and safetensors know them. What a device stores is a DataFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// f16 is IEEE 754 binary16; bf16 is the upper half of an f32.
enum class DType : std::uint8_t { boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };

// An element of a boolean tensor: one byte, which a file may fill with anything; all but zero is true.
struct Boolean {
  std::uint8_t byte = 0;
  constexpr explicit operator bool() const { return byte != 0; }
  friend constexpr bool operator==(Boolean a, Boolean b) { return (a.byte != 0) == (b.byte != 0); }
};

inline constexpr std::size_t kDTypeCount = 13;

// Bytes of one element; also its alignment.
constexpr std::size_t dtype_size(DType t) {
  constexpr std::uint8_t kSizes[kDTypeCount] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return kSizes[static_cast<std::size_t>(t)];
}
constexpr bool is_float(DType t) { return t >= DType::f16; }
constexpr bool is_integer(DType t) { return t != DType::boolean && !is_float(t); }
constexpr bool is_signed(DType t) { return is_float(t) || t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64; }

// "BOOL", "U8", …, "BF16", "F32": the spelling of safetensors, used in our own files and messages too.
std::string_view dtype_name(DType t);
std::optional<DType> dtype_from_name(std::string_view name);

// "|b1", "|u1", "<f4": the spelling of an .npy header. NumPy has no bf16; ml_dtypes spells it "<V2", and so do we.
std::string_view numpy_descr(DType t);
// Native ('=') and absent ('|') byte orders are understood as little endian; big endian is not known here.
std::optional<DType> dtype_from_numpy_descr(std::string_view descr);

// All of them, in the order of the enumeration.
const std::vector<DType>& all_dtypes();

}  // namespace buda

#pragma GCC visibility pop
