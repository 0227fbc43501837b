// SPDX-License-Identifier: Apache-2.0
// Walking over protobuf's wire format.
#include <buda/io/protobuf.hpp>

#include <buda/base/text.hpp>

namespace buda::io {

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && position_ < message_.size(); shift += 7) {
    auto byte = static_cast<unsigned char>(message_[position_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if ((byte & 0x80u) == 0) return value;
  }
  return std::nullopt;
}

Diagnostic WireReader::malformed(std::string_view what) const {
  return input_error("IO030", {}, cat("at byte ", base_ + position_, ' ', what));
}

Result<WireField> WireReader::next() {
  WireField field;
  field.begin = position_;
  auto tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0) return malformed("a field begins with no valid tag");
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  field.type = static_cast<std::uint32_t>(*tag & 7u);
  field.payload = position_;
  std::uint64_t length = 0;
  switch (field.type) {
    case 0: {
      auto value = varint();
      if (!value) return malformed("a number is cut off or too long");
      field.varint = *value;
      break;
    }
    case 1:
      length = 8;
      break;
    case 5:
      length = 4;
      break;
    case 2: {
      auto given = varint();
      if (!given) return malformed("the length of a field is cut off or too long");
      length = *given;
      field.payload = position_;
      break;
    }
    default:
      return malformed(cat("a field has wire type ", field.type, ", which is not in use"));
  }
  std::size_t left = message_.size() - position_;
  if (length > left) return malformed(cat("a field of ", length, " bytes begins, and only ", left, " bytes are left"));
  position_ += static_cast<std::size_t>(length);
  field.end = position_;
  return field;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_tag(std::string& out, std::uint32_t number, std::uint32_t type) { append_varint(out, std::uint64_t{number} << 3 | type); }

}  // namespace buda::io
