// SPDX-License-Identifier: Apache-2.0
// Texts cut to a length, for drawings and messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace buda {

// `text` where it has at most `max_characters` characters (of UTF-8), else its beginning and `ellipsis`, together that many:
// shortened("embedding", 6) is "emb...". `max_characters` is at least the length of `ellipsis`.
std::string shortened(std::string_view text, std::size_t max_characters, std::string_view ellipsis = "...");
// The same with the end kept, for names whose beginnings are alike: "...ing".
std::string shortened_to_end(std::string_view text, std::size_t max_characters, std::string_view ellipsis = "...");

}  // namespace buda
