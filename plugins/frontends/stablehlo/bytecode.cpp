// SPDX-License-Identifier: Apache-2.0
// The byte level of MLIR's bytecode.
#include "bytecode.hpp"

#include <bit>

namespace buda::stablehlo {

std::uint8_t ByteReader::byte() {
  if (failed_ || at_ >= bytes_.size()) {
    failed_ = true;
    return 0;
  }
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ByteReader::number() {
  const std::uint8_t first = byte();
  const int more = first == 0 ? 8 : std::countr_zero(first);
  std::uint64_t rest = 0;
  for (int i = 0; i < more; ++i) rest |= std::uint64_t{byte()} << (8 * i);
  if (failed_) return 0;
  if (first == 0) return rest;
  // The first byte has 7 - more bits of the number, which are its lowest.
  return (rest << (7 - more)) | (std::uint64_t{first} >> (more + 1));
}

std::int64_t ByteReader::signed_number() {
  const std::uint64_t n = number();
  return static_cast<std::int64_t>((n >> 1) ^ (0 - (n & 1)));
}

std::size_t ByteReader::count() {
  const std::uint64_t n = number();
  if (n > left()) failed_ = true;
  return failed_ ? 0 : static_cast<std::size_t>(n);
}

std::string_view ByteReader::take(std::uint64_t size) {
  if (failed_ || size > left()) {
    failed_ = true;
    return {};
  }
  const std::string_view out = bytes_.substr(at_, static_cast<std::size_t>(size));
  at_ += out.size();
  return out;
}

std::string_view ByteReader::until_zero() {
  const auto end = bytes_.find('\0', at_);
  if (failed_ || end == std::string_view::npos) {
    failed_ = true;
    return {};
  }
  const std::string_view out = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return out;
}

Section Section::read(ByteReader& from) {
  constexpr std::uint8_t kAligned = 0x80, kFilling = 0xCB;
  const std::uint8_t head = from.byte();
  const std::uint64_t size = from.number();
  if ((head & kAligned) != 0) {
    const std::uint64_t alignment = from.number();
    // How the file lies in memory does not matter here, only how many bytes were filled in.
    static_cast<void>(alignment);
    while (!from.failed() && from.left() > size && static_cast<std::uint8_t>(from.bytes_[from.at_]) == kFilling) from.byte();
  }
  return {static_cast<std::uint8_t>(head & ~kAligned), from.take(size)};
}

}  // namespace buda::stablehlo
