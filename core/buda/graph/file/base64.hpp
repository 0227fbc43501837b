// SPDX-License-Identifier: Apache-2.0
// Bytes as text (RFC 4648, with padding), for tensors inside a graph file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace buda::graph {

std::string base64_encoded(std::string_view bytes);

// Nothing when the text is not canonical base64: a wrong letter, a wrong length, bits set beyond the last byte.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace buda::graph
