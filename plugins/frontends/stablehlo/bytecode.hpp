// SPDX-License-Identifier: Apache-2.0
// The byte level of MLIR's bytecode: integers of variable length, strings and sections.
#pragma once

#include <buda/io/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::stablehlo {

// Reads from bytes; behind their end, and after anything that cannot be, it gives zeros and `failed()`.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes = {}) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  void fail() { failed_ = true; }
  bool at_end() const { return failed_ || at_ == bytes_.size(); }
  std::size_t left() const { return bytes_.size() - at_; }

  std::uint8_t byte();
  // The number of zero bits at the bottom of the first byte says how many bytes follow it; what is above them is the number.
  std::uint64_t number();
  // Positive numbers are doubled; negative ones are doubled and inverted.
  std::int64_t signed_number();
  // How many elements follow, of at least one byte each.
  std::size_t count();
  std::string_view take(std::uint64_t size);
  std::string_view until_zero();

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;

  friend struct Section;
};

// What follows a section's number and length. Its beginning may be aligned.
struct Section {
  std::uint8_t number = 0;
  std::string_view bytes;
  static Section read(ByteReader& from);
};

// The parts of a file that operations refer to by number.
struct BytecodeTables {
  struct Entry {
    std::string_view dialect, bytes;
    bool encoded = false;  // as numbers, not as text
  };
  io::Bytes file;
  std::uint64_t version = 0;
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<std::pair<std::string_view, std::string_view>> operations;  // dialect and name
  std::vector<Entry> attributes, types;
  std::vector<std::string_view> properties;
  std::string_view operations_section;
};

}  // namespace buda::stablehlo
