// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format, field by field, for formats of which little is needed and of which large parts should stay where they are.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::io {

// One field of a message: its number, its kind, and where it lies in the bytes that hold the message.
struct WireField {
  std::uint32_t number = 0;
  std::uint32_t type = 0;   // 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
  std::size_t begin = 0;    // of the whole field, tag included
  std::size_t payload = 0;  // of what follows the tag (and the length)
  std::size_t end = 0;
  std::uint64_t varint = 0;  // the value of a varint
};

// Walks over the fields of one message (protobuf documentation, "Encoding": a field is a tag, number << 3 | wire type, and a payload). What
// is not well formed ends the walk with an error (IO030) without a file, which says at which byte.
class WireReader {
 public:
  // `base` is where `message` begins in the file, for messages.
  explicit WireReader(std::string_view message, std::size_t base = 0) : message_(message), base_(base) {}
  bool at_end() const { return position_ >= message_.size(); }
  Result<WireField> next();

  // A number without a tag, as in packed fields.
  std::optional<std::uint64_t> varint();

 private:
  Diagnostic malformed(std::string_view what) const;

  std::string_view message_;
  std::size_t base_;
  std::size_t position_ = 0;
};

// Appends a varint, and the tag of a field.
void append_varint(std::string& out, std::uint64_t value);
void append_tag(std::string& out, std::uint32_t number, std::uint32_t type);

}  // namespace buda::io

#pragma GCC visibility pop
