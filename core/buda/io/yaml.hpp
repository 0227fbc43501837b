// YAML in, with places.
#pragma once

#include <buda/io/node.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::io {

// One document. Plain scalars are typed by YAML's core schema (null, true/false, integers, reals); their text is kept. Anchors and
// aliases are resolved within a bound on the total size; a duplicate key is an error; depth is limited to 200.
Result<Node> parse_yaml(std::string_view text, const std::string& file);

// A stream of documents separated by `---`; an empty text gives none.
Result<std::vector<Node>> parse_yaml_stream(std::string_view text, const std::string& file);

// True where `text`, written plainly in YAML, reads back as the same string.
bool is_plain_yaml(std::string_view text);
// `text` as a YAML scalar, quoted when it has to be.
std::string yaml_scalar(std::string_view text);

}  // namespace buda::io
