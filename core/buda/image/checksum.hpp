// SPDX-License-Identifier: Apache-2.0
// The list of SHA-256 digests of members that an image carries.
#pragma once

#include <buda/diag/result.hpp>

#include <map>
#include <string>
#include <string_view>

namespace buda::image {

// What `sha256sum` prints and `sha256sum -c` reads: "<digest>  <name>", one line per name, sorted.
std::string checksum_text(const std::map<std::string, std::string>& digests);

// Digests by name. A text that holds a single digest and no name (TT-Buda's own archives: it belongs to the archive as a whole and cannot
// be checked from inside) gives an empty map. `where` begins the places of errors.
Result<std::map<std::string, std::string>> parse_checksums(std::string_view text, const std::string& where);

}  // namespace buda::image
