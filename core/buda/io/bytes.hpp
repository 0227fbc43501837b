// SPDX-License-Identifier: Apache-2.0
// The content of a file: a read-only view that keeps its memory (a string or a mapping) alive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::io {

// Copies share the memory. A slice keeps the whole alive.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string text);
  Bytes(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}

  std::string_view view() const { return view_; }
  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  Bytes slice(std::size_t offset, std::size_t count) const { return Bytes(owner_, view_.substr(offset, count)); }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace buda::io

#pragma GCC visibility pop
