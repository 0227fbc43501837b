// SPDX-License-Identifier: Apache-2.0
// Elements that lie in a file unaligned or as text, brought to where they can be read as numbers once somebody wants that.
#pragma once

#include <buda/io/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace buda::detail {

class AlignedCopy {
 public:
  enum class From : std::uint8_t { bytes, hex };  // hex: two digits for each byte, which were checked

  explicit AlignedCopy(io::Bytes from, From form = From::bytes) : from_(std::move(from)), form_(form) {}

  // The bytes, aligned for every element type. Thread-safe; std::bad_alloc when memory is short.
  const char* data();
  std::size_t size() const { return form_ == From::hex ? from_.size() / 2 : from_.size(); }
  std::string_view view() { return {data(), size()}; }
  // What they are made of.
  std::string_view from() const { return from_.view(); }

 private:
  io::Bytes from_;
  From form_;
  std::once_flag made_;
  std::shared_ptr<char> memory_;
};

}  // namespace buda::detail
