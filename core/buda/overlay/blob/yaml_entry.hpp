// SPDX-License-Identifier: Apache-2.0
// Keys and values of a YAML map, one a line. Internal to the module.
#pragma once

#include <buda/base/text.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace buda::overlay {

class YamlEntry {
 public:
  YamlEntry(std::string& out, std::string_view indent) : out_(out), indent_(indent) {}
  template <class T>
  YamlEntry& add(std::string_view key, const T& value) {
    out_ += indent_;
    out_ += key;
    out_ += ": ";
    append_text(out_, value);
    out_ += '\n';
    return *this;
  }
  YamlEntry& hex(std::string_view key, std::uint64_t value) { return add(key, hex_text(value)); }

 private:
  std::string& out_;
  std::string_view indent_;
};

// Writes the text, and empties it, if it is longer than `limit`.
inline Result<void> flush_text(std::string& text, std::size_t limit, io::OutputFile& out) {
  if (text.size() <= limit) return success();
  BUDA_TRY(out.write(text));
  text.clear();
  return success();
}

}  // namespace buda::overlay
