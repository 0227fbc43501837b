// SPDX-License-Identifier: Apache-2.0
// Reading and writing of lists of digests.
#include <buda/image/checksum.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::image {
namespace {

constexpr std::size_t kDigestDigits = 64;

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string checksum_text(const std::map<std::string, std::string>& digests) {
  std::string out;
  for (const auto& [name, digest] : digests) out += cat(digest, "  ", name, '\n');
  return out;
}

Result<std::map<std::string, std::string>> parse_checksums(std::string_view text, const std::string& where) {
  std::map<std::string, std::string> out;
  if (is_digest(trim(text))) return out;
  std::uint32_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    std::string_view digest = line.substr(0, kDigestDigits);
    bool separated =
        line.size() > kDigestDigits + 2 && line[kDigestDigits] == ' ' && (line[kDigestDigits + 1] == ' ' || line[kDigestDigits + 1] == '*');
    if (!is_digest(digest) || !separated)
      return input_error("IM008", {where, number, 1}, "expected a SHA-256 digest, two spaces and a name, as sha256sum writes them");
    if (!out.emplace(std::string(line.substr(kDigestDigits + 2)), std::string(digest)).second)
      return input_error("IM008", {where, number, 1}, cat("a second digest for '", line.substr(kDigestDigits + 2), "'"));
  }
  return out;
}

}  // namespace buda::image
