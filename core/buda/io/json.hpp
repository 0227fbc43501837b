// SPDX-License-Identifier: Apache-2.0
// JSON in, with places; JSON out, canonical.
#pragma once

#include <buda/io/node.hpp>

#include <string>
#include <string_view>

namespace buda::io {

// Strict JSON (RFC 8259), UTF-8. `file` is the name used in places. Depth is limited to 200; a duplicate key is an error.
Result<Node> parse_json(std::string_view text, const std::string& file);

// One line, ", " and ": " as separators, shortest numbers, members in their order. No newline at the end.
std::string json_line(const Node& node);

// Indented by two spaces; a list or map whose one-line form fits in `width` columns stays on one line. Ends with a newline.
std::string json_pretty(const Node& node, std::size_t width = 120);

}  // namespace buda::io
